import { DocumentWriter, FieldIterator, CommandError } from '@shardlab/bson'

export function temporaryOptions(options: Uint8Array): Uint8Array {
  return lasting(options).bool('temp', true).finish()
}

export function lastingOptions(options: Uint8Array): Uint8Array {
  return lasting(options).finish()
}

function lasting(options: Uint8Array): DocumentWriter {
  const writer = new DocumentWriter(options.length + 16)
  for (const it = new FieldIterator(options); it.next();) if (it.name() !== 'temp') writer.value(it.name(), it.value())
  return writer
}

/**
 * Clients may not set `temp`. Server: create_command.cpp, cluster_create_cmd.cpp.
 * @throws CommandError 72 InvalidOptions
 */
export function refuseTemporary(temp: boolean | undefined): void {
  if (temp === true) throw new CommandError('InvalidOptions', "the 'temp' field is an invalid option")
}
