/** Every member has its own. */
export const internalDatabases: ReadonlySet<string> = new Set(['admin', 'config', 'local'])
