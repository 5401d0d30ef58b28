// Read by require.js as its configuration. The widget player finds its icon fonts from the address of its own
// module, which would otherwise be a folder beside the page; the fonts lie beside the player.
{
  const player = new URL("widgets/embed-amd", document.currentScript.src).href;
  window.require = {
    paths: {
      "@jupyter-widgets/html-manager": player,
      "@jupyter-widgets/html-manager/dist/libembed-amd": player,
    },
  };
}
