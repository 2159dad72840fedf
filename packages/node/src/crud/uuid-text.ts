/** `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`. */
export function uuidText(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
