/** Roles of members with data. */
export const storageRoles: ReadonlySet<string> = new Set(['mongod', 'shard', 'config-server'])
