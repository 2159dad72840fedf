/** `npm run test:long -- --members=3` plays suites on sets of so many members. */
const count = Number(process.env['SHARDLAB_MEMBERS'] ?? 1)

/** Options of clusters whose tests hold for any number of members. */
export const anyMembers: { readonly members?: number } = count > 1 ? { members: count } : {}

/** Whether this run plays suites on sets of several members. */
export const areSets = count > 1
