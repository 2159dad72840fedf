import { OptionError } from '@shardlab/cluster'
import type { Scenario } from '../file/parse.js'

/** @throws OptionError the scenario would run a module, which may do all that its user may */
export function checkCode({ policy }: Pick<Scenario, 'policy'>, allowCode: boolean): void {
  if (policy === undefined || allowCode) return
  throw new OptionError(
    `the policy ${policy} is code that would run with your rights: read it, and allow it by --allow-code or allowCode.`,
  )
}
