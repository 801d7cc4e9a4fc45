# An image with the program alone, on Debian 13:
#
#   docker build -t ropescope .
#   docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/work" ropescope check config.json
#   docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/work" ropescope run precision
#
# The page of explore is for the machine that it runs on: docker run --network host ... explore
FROM debian:trixie-slim AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev libgsl-dev libjansson-dev libjs-dygraphs libmicrohttpd-dev \
        librandom123-dev librsvg2-dev libyaml-dev meson nettle-dev ninja-build pkgconf zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN meson setup --prefix=/usr --wrap-mode=nofallback -Dtests=disabled -Dcharts=enabled -Dexplore=enabled \
        -Dlibrsvg=enabled /build /source \
    && ninja -C /build \
    && DESTDIR=/installed meson install -C /build --no-rebuild --strip

FROM debian:trixie-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends fonts-dejavu-core libgomp1 libgsl28 libgslcblas0 libjansson4 \
        libmicrohttpd12t64 libnettle8t64 librsvg2-2 libyaml-0-2 zlib1g \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /installed /
WORKDIR /work
ENTRYPOINT ["ropescope"]
CMD ["--help"]
