/** `host:port`, an IPv6 address in brackets, as connection strings and clients write it. */
export function endpointOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
