/** In the directory of a single server, instead of `cluster.json`. */
export const serverManifestName = 'server.json'
