import { createRequire } from 'node:module'
import { usePreparation } from '@shardlab/auth'

type Library = typeof import('@mongodb-js/saslprep')

let library: Library | undefined

/** The tables of SASLprep take 20 ms to load: the first password beyond ASCII loads them. */
export function preparePasswordsByLibrary(): void {
  usePreparation((password) => {
    library ??= createRequire(import.meta.url)('@mongodb-js/saslprep') as Library
    return library(password)
  })
}
