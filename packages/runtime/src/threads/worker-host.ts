import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import type { Disk } from '@shardlab/actor'
import { openFileDisk, type FileDiskPlace } from '../disks/files/disk-folder.js'
import { SharedDisk, type NewArea, type SharedDiskBuffers } from '../disks/shared-disk.js'
import type { Peer } from '../host/mailbox/peer.js'
import type { HostAnswer, HostBoot, HostCall, HostCommands, HostedMember, HostReport } from '../remote/host-commands.js'
import { HostServer, type RoleLoaders } from '../remote/host-server.js'
import { MemoryTrimmer } from './memory-trimmer.js'
import { attachPort } from './port-peer.js'

export type WorkerDisk = SharedDiskBuffers | FileDiskPlace

export interface WorkerBoot extends HostBoot<WorkerDisk> {
  readonly ports: readonly { readonly hostId: number; readonly port: MessagePort }[]
  /** See `LongWorkPermits`. */
  readonly longWorkPermits: SharedArrayBuffer
}

export interface WorkerCommands extends HostCommands<WorkerDisk> {
  addPeer(hostId: number, port: MessagePort): void
}

export interface WorkerHostOptions {
  readonly roles: RoleLoaders
}

/**
 * Makes this worker a host of the threads runtime that started it. A worker entry calls nothing
 * else.
 * @throws Error outside a worker of that runtime
 */
export function runWorkerHost(options: WorkerHostOptions): void {
  const boot = (workerData as { shardlabHost?: WorkerBoot } | null)?.shardlabHost
  if (parentPort === null || boot === undefined)
    throw new Error('runWorkerHost is called by the worker entry of a threads runtime')
  new WorkerHost(parentPort, boot, options.roles)
  // It would keep the first areas of the disks in memory.
  Reflect.deleteProperty(workerData as object, 'shardlabHost')
}

class WorkerHost extends HostServer<WorkerDisk> implements WorkerCommands {
  readonly #control: MessagePort
  readonly #peers = new Map<number, Peer>()
  readonly #trimmer = new MemoryTrimmer({
    growthBytesMin: 16 * 1024 * 1024,
    whenBusy: true,
    onIdle: () => this.#trimDisks(),
  })

  constructor(control: MessagePort, boot: WorkerBoot, roles: RoleLoaders) {
    super(boot, roles, boot.longWorkPermits)
    this.#control = control
    for (const { hostId, port } of boot.ports) this.addPeer(hostId, port)
    this.begin(boot)
    control.on('message', (call: HostCall) => this.answer(call))
  }

  addPeer(hostId: number, port: MessagePort): void {
    this.#peers.set(hostId, attachPort(this.host, port))
    port.on('close', () => this.#peers.delete(hostId))
  }

  protected findPeer(hostId: number): Peer | undefined {
    return this.#peers.get(hostId)
  }

  protected openDisk({ boot, disk }: HostedMember<WorkerDisk>): Disk {
    if ('folder' in disk) return openFileDisk(disk, (message) => this.warn(boot.address, message))
    return new SharedDisk(disk, (area: NewArea, replacedBytes) => {
      this.report({ type: 'area', area })
      this.#trimmer.released(replacedBytes)
    })
  }

  protected send(message: HostAnswer | HostReport): void {
    this.#control.postMessage(message)
  }

  #trimDisks(): void {
    for (const { disk } of this.host.cells()) if (disk instanceof SharedDisk) disk.trim()
  }
}
