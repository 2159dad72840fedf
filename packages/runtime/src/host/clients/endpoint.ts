/** Puts an IPv6 address in brackets. */
export function endpointOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

export function parseEndpoint(endpoint: string): { readonly host: string; readonly port: number } {
  const colon = endpoint.lastIndexOf(':')
  return { host: endpoint.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(endpoint.slice(colon + 1)) }
}
