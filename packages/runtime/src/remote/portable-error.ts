/**
 * A structured clone would lose the system's `code` and `port`, by which callers tell errors apart.
 */
export interface PortableError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly code: string | undefined
  readonly port: number | undefined
}

export function toPortable(error: unknown): PortableError {
  if (!(error instanceof Error))
    return { name: 'Error', message: String(error), stack: undefined, code: undefined, port: undefined }
  const { code, port } = error as { code?: unknown; port?: unknown }
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    code: typeof code === 'string' ? code : undefined,
    port: typeof port === 'number' ? port : undefined,
  }
}

export function fromPortable({ name, message, stack, code, port }: PortableError): Error {
  const error = Object.assign(
    new Error(message),
    { name },
    code === undefined ? {} : { code },
    port === undefined ? {} : { port },
  )
  if (stack !== undefined) error.stack = stack
  return error
}
