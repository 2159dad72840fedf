import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  findField,
  noCode,
  textOf,
} from '@shardlab/bson'

const standardFields = new Set(['ok', 'errmsg', 'code', 'codeName', 'errorLabels'])

export function toCommandError(document: Uint8Array): CommandError {
  const labels = findField(document, 'errorLabels')
  const extra = new DocumentWriter(128)
  for (const it = new FieldIterator(document); it.next();)
    if (!standardFields.has(it.name())) extra.value(it.name(), it.value())
  return new CommandError(findField(document, 'code')?.asNumber() ?? noCode, textOf(findField(document, 'errmsg')), {
    extra: extra.length > 4 ? extra.finish() : null,
    errorLabels: labels?.type === BsonType.array ? elementsOf(labels).map((label) => label.asString()) : [],
  })
}

export function raiseError(document: Uint8Array | null): void {
  if (document !== null) throw toCommandError(document)
}
