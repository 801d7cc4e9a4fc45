# bash completion for ropescope: the program itself knows what may follow.
_ropescope() {
    local line file extension cur=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]/#\~/$HOME}
    if [ "$cur" = '=' ]; then cur=''; fi
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :folders)
            compopt -o filenames 2>/dev/null
            while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -d -- "$cur")
            ;;
        :files)
            compopt -o filenames 2>/dev/null
            while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$cur")
            ;;
        :files\ *)
            compopt -o filenames 2>/dev/null
            while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -d -- "$cur")
            for extension in ${line#:files}; do
                while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -X "!*.$extension" -- "$cur")
            done
            ;;
        *)
            line=${line%%$'\t'*}
            if [[ $line == *= ]]; then compopt -o nospace 2>/dev/null; fi
            COMPREPLY+=("$line")
            ;;
        esac
    done < <("$program" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _ropescope ropescope
