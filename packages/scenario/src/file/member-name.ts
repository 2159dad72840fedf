/** A member may be named with a zero left out, as in faults: `shard2`. */
export const memberName = (name: string): string => name.replace(/^(shard|mongos)(\d)$/, '$10$2')
