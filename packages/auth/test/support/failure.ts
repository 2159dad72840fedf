import { CommandError } from '@shardlab/bson'

/** @throws whatever is no error of a command */
export function failure(run: () => unknown): [code: number, message: string] {
  try {
    run()
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return [error.code, error.message]
  }
  throw new Error('no error')
}
