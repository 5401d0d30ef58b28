#!/usr/bin/env bash
# Fetch open font families that write Vietnamese, for the lines that the OCR recogniser learns from.
#
#     scripts/install_fonts.sh            installs the Debian packages (root, or sudo)
#     scripts/install_fonts.sh FOLDER     unpacks them into FOLDER, without root; name it in COURSEPKG_FONTS afterwards
#
# The package itself needs none of them: DejaVu comes with matplotlib. Families, not packages, decide which faces are
# held out for testing (coursepkg/projects/ocr/synthetic/fonts.py).
set -euo pipefail

packages=(
    fonts-3270 fonts-agave fonts-anonymous-pro fonts-b612 fonts-cantarell fonts-comfortaa fonts-courier-prime
    fonts-croscore fonts-crosextra-carlito fonts-ebgaramond fonts-freefont-ttf fonts-gfs-neohellenic fonts-glasstty
    fonts-go fonts-hack fonts-inter fonts-jetbrains-mono fonts-junicode fonts-jura fonts-lato fonts-league-mono
    fonts-league-spartan fonts-lg-aboriginal fonts-linuxlibertine fonts-lmodern fonts-manrope fonts-noto-core
    fonts-noto-mono fonts-ocr-a fonts-open-sans fonts-proggy fonts-quicksand fonts-roboto-slab fonts-roboto-unhinted
    fonts-sil-andika fonts-sil-charis fonts-sil-gentium fonts-terminus fonts-texgyre fonts-unifont fonts-urw-base35
    fonts-vollkorn fonts-yanone-kaffeesatz
)

fail() {
    echo "error: $*" >&2
    exit 1
}

command -v apt-get >/dev/null || fail "apt-get not found; on another system install the families by its own means"

if [ $# -eq 0 ]; then
    as_root=$([ "$(id -u)" -eq 0 ] || echo sudo)
    $as_root apt-get install -y --no-install-recommends "${packages[@]}"
    exit
fi

mkdir -p "$1"
folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# apt downloads as another user, who must be able to write there.
chmod 777 "$work"
cd "$work"
for package in "${packages[@]}"; do
    apt-get download -qq "$package" || fail "apt-get could not download $package; run apt-get update first"
done
for archive in *.deb; do
    dpkg-deb -x "$archive" unpacked
done
cd unpacked/usr/share
find . -type f \( -iname '*.ttf' -o -iname '*.otf' -o -iname '*.ttc' -o -path '*/doc/*copyright' \) \
    -exec cp --parents -t "$folder" {} +
echo "Fonts of ${#packages[@]} packages are in $folder; now: export COURSEPKG_FONTS=$folder"
