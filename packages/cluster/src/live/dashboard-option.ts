import { OptionError } from '../option-error.js'
import type { ClusterOptions } from '../options.js'

/** true: any free port. */
export type DashboardOption = boolean | number

/** The option, and those of the cluster itself. @throws OptionError */
export function dashboardIn(
  options: ClusterOptions,
): readonly [dashboard: DashboardOption, others: Omit<ClusterOptions, 'dashboard'>] {
  // `resolveOptions` refuses options that are not an object.
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return [false, options]
  const { dashboard = false, ...others } = options
  if (dashboard === false) return [dashboard, others]
  const isPort = Number.isInteger(dashboard) && (dashboard as number) >= 0 && (dashboard as number) <= 65_535
  if (dashboard !== true && !isPort)
    throw new OptionError(
      `dashboard is ${JSON.stringify(dashboard)}; it must be true, false or a port from 0 to 65535.`,
    )
  return [dashboard, others]
}
