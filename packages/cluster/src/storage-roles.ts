/** Roles of members with data. */
export const storageRoles: ReadonlySet<string> = new Set(['mongod', 'shard', 'config-server'])

/** Roles of members that clients connect to. */
export const clientRoles: ReadonlySet<string> = new Set([...storageRoles, 'mongos'])
