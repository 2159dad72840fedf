import {
  CommandError,
  DocumentWriter,
  elementsOf,
  ErrorCodes,
  FieldIterator,
  findField,
  noCode,
  textOf,
} from '@shardlab/bson'

export function isOk(body: Uint8Array): boolean {
  return findField(body, 'ok')?.isTruthy() === true
}

/** null: the command succeeded */
export function replyError(body: Uint8Array): CommandError | null {
  return isOk(body) ? null : commandErrorFrom(body)
}

/** Reads `{ ok: 0, errmsg, code, codeName, errorLabels, … }`; other fields become `extra`. */
export function commandErrorFrom(document: Uint8Array): CommandError {
  let code: number = noCode
  let message = ''
  let errorLabels: string[] = []
  let extra: DocumentWriter | null = null
  for (const it = new FieldIterator(document); it.next();) {
    const name = it.name()
    switch (name) {
      case 'ok':
      case 'codeName':
      case '$clusterTime':
      case 'operationTime':
        break
      case 'code':
        code = it.value().asNumber()
        break
      case 'errmsg':
        message = textOf(it.value())
        break
      case 'errorLabels':
        errorLabels = elementsOf(it.value()).map((label) => label.asString())
        break
      default:
        extra = (extra ?? new DocumentWriter(128)).value(name, it.value())
    }
  }
  return new CommandError(code, message, { errorLabels, extra: extra === null ? null : extra.finish() })
}

/**
 * Whether the sender has to refresh its routing before it retries: StaleConfig, StaleDbVersion and,
 * from older shards, StaleEpoch. Server: category NeedRetargettingError.
 */
export function isStaleCode(code: number): boolean {
  return code === ErrorCodes.StaleConfig || code === ErrorCodes.StaleDbVersion || code === ErrorCodes.StaleEpoch
}
