# Installs rustomize for this user:
#
#   irm @REPOSITORY@/releases/latest/download/install.ps1 | iex
#
# The archive is held to its line in checksums.txt of the release. Nothing is left behind if a step
# fails. No rights of an administrator are needed.
#
# RUSTOMIZE_INSTALL   the directory for the programs (default: %LOCALAPPDATA%\Programs\rustomize)
# RUSTOMIZE_VERSION   the version (default: @VERSION@)
# RUSTOMIZE_RELEASES  where the releases are, for a copy of them inside of a network
#                     (default: @REPOSITORY@/releases/download)

# All of it is a function: a script that was cut short by the network does nothing.
function Install-Rustomize {
    $ErrorActionPreference = 'Stop'
    # The bar of Windows PowerShell makes downloads many times slower.
    $ProgressPreference = 'SilentlyContinue'
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

    $version = if ($env:RUSTOMIZE_VERSION) { $env:RUSTOMIZE_VERSION.TrimStart('v') } else { '@VERSION@' }
    $releases = if ($env:RUSTOMIZE_RELEASES) { $env:RUSTOMIZE_RELEASES } else { '@REPOSITORY@/releases/download' }
    $to = if ($env:RUSTOMIZE_INSTALL) { $env:RUSTOMIZE_INSTALL } else { Join-Path $env:LOCALAPPDATA 'Programs\rustomize' }
    $file = "rustomize_${version}_windows_amd64.zip"

    $place = Join-Path ([IO.Path]::GetTempPath()) ('rustomize-' + [IO.Path]::GetRandomFileName())
    New-Item -ItemType Directory -Path $place | Out-Null
    try {
        $sums = Join-Path $place 'checksums.txt'
        Invoke-WebRequest -UseBasicParsing -Uri "$releases/v$version/checksums.txt" -OutFile $sums
        $line = Get-Content $sums | Where-Object { $_ -match '^([0-9a-f]{64})  (.+)$' -and $Matches[2] -eq $file }
        if (-not $line) { throw "checksums.txt of version $version does not name $file" }
        $wanted = ([string]$line).Substring(0, 64)

        $archive = Join-Path $place $file
        Invoke-WebRequest -UseBasicParsing -Uri "$releases/v$version/$file" -OutFile $archive
        $found = (Get-FileHash -Algorithm SHA256 $archive).Hash.ToLowerInvariant()
        if ($found -ne $wanted) { throw "the sum of $file is $found, expected ${wanted}: nothing was installed" }

        $files = Join-Path $place 'files'
        Expand-Archive -Path $archive -DestinationPath $files
        # It writes files under other names and renames them, so that a full disk leaves what was there.
        & (Join-Path $files 'rustomize.exe') install-to $to --as rustomize kubectl-rustomize
        if ($LASTEXITCODE -ne 0) { throw 'nothing was installed' }

        $path = [Environment]::GetEnvironmentVariable('Path', 'User')
        if (($path -split ';') -notcontains $to) {
            [Environment]::SetEnvironmentVariable('Path', (@($path, $to) | Where-Object { $_ }) -join ';', 'User')
            Write-Output "$to was added to your PATH: open a new terminal"
        }
    } finally {
        Remove-Item -Recurse -Force $place
    }
}

Install-Rustomize
