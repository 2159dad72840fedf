/** Each is the last patch release of its series; 6.0.2 is also the last one with auto-split. */
export const emulatedVersions = ['2.6', '4.0', '4.4', '5.0', '6.0.2', '6.0', '7.0', '8.0'] as const
export type EmulatedVersion = (typeof emulatedVersions)[number]

export const defaultVersion: EmulatedVersion = '7.0'

export function parseEmulatedVersion(text: string): EmulatedVersion | undefined {
  return emulatedVersions.find((version) => version === text)
}

/** The version and all older ones. */
export function versionsUntil(version: EmulatedVersion): readonly EmulatedVersion[] {
  return emulatedVersions.slice(0, emulatedVersions.indexOf(version) + 1)
}
