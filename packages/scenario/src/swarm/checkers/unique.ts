/** Unique: exactly one of the clients that want a value has it, the one that was acknowledged. */
import type { Document } from '@shardlab/bson'
import { finding, type Finding } from '../finding.js'

const ns = 'app.users'

/** @param owners acknowledged owner by value of the unique shard key */
export function uniqueKeyViolations(
  owners: ReadonlyMap<string, string | null>,
  documents: readonly Document[],
  where: string,
): Finding[] {
  const wrong: Finding[] = []
  for (const { _id, name } of documents)
    if (owners.get(name as string) !== _id)
      wrong.push(finding(`${where}: ${name} is of ${_id}, ${owners.get(name as string)} was told so`, ns, _id))
  const found = new Set(documents.map(({ name }) => name as string))
  for (const [name, owner] of owners)
    if (owner !== null && !found.has(name)) wrong.push(finding(`${where}: ${name} of ${owner} is gone`, ns, owner))
  if (documents.length !== owners.size)
    wrong.push(finding(`${where}: there are ${documents.length} names, ${owners.size} were given`, ns))
  return wrong
}
