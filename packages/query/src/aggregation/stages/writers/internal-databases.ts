/** Databases that every member has of its own. */
export const internalDatabases: ReadonlySet<string> = new Set(['admin', 'config', 'local'])
