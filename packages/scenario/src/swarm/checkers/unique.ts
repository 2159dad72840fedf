/** Unique: exactly one of the clients that want a value has it, the one that was acknowledged. */
import type { Document } from '@shardlab/bson'

/** @param owners acknowledged owner by value of the unique shard key */
export function uniqueKeyViolations(
  owners: ReadonlyMap<string, string | null>,
  documents: readonly Document[],
  where: string,
): string[] {
  const wrong: string[] = []
  for (const { _id, name } of documents)
    if (owners.get(name as string) !== _id)
      wrong.push(`${where}: ${name} is of ${_id}, ${owners.get(name as string)} was told so`)
  if (documents.length !== owners.size)
    wrong.push(`${where}: there are ${documents.length} names, ${owners.size} were given`)
  return wrong
}
