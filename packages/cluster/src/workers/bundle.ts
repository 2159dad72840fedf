import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Script } from 'node:vm'
import { cachedScript } from './cached-script.js'

/** A script whose value is a function of {@link Wrapper}'s form. */
const bundleUrl = new URL('../../workers/member.worker.cjs', import.meta.url)
export const codeCacheUrl = new URL('../../workers/member.worker.cache', import.meta.url)

type Member = typeof import('./member.worker.js')
type Wrapper = (exports: object, require: NodeJS.Require, module: { exports: object }, bundleUrl: string) => void

export interface EvaluatedBundle {
  readonly member: Member
  readonly script: Script
}

export function evaluateBundle(): EvaluatedBundle {
  const script = cachedScript(fileURLToPath(bundleUrl), fileURLToPath(codeCacheUrl))
  const module = { exports: {} }
  const wrapper = script.runInThisContext() as Wrapper
  wrapper(module.exports, createRequire(bundleUrl), module, bundleUrl.href)
  return { member: module.exports as Member, script }
}
