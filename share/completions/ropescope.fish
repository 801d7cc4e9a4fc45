# fish completion for ropescope: the program itself knows what may follow.
function __ropescope_complete
    set -l token (commandline -ct)
    set -l before (string match -r -- '^--[^=]*=' "$token")
    set -l part (string replace -r -- '^--[^=]*=' '' "$token")
    set -l words (commandline -opc)
    for line in (command $words[1] --complete $words[2..-1] "$token" 2>/dev/null)
        switch $line
            case ':folders'
                for folder in $part*/
                    echo "$before$folder"
                end
            case ':files*'
                set -l extensions (string split -n ' ' -- (string replace ':files' '' -- $line))
                for file in $part*
                    if test -d "$file"
                        echo "$before$file/"
                    else if test (count $extensions) -eq 0
                        echo "$before$file"
                    else if contains -- (string replace -r '^.*\.' '' -- "$file") $extensions
                        echo "$before$file"
                    end
                end
            case '*'
                echo $line
        end
    end
end
complete -c ropescope -f -a '(__ropescope_complete)'
