import { randomUUID } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import { backoffMs, StoredDeadline } from '../../clock';
import { clock } from '../http/accountClient';
import { areRowsSeparate, NamedRow } from './namedRow';
import { type StoreUse, unreachable } from './nodeStore';

/** If a process is killed while it has the lock, the others wait for up to three slots. */
const SLOT_MS = 20_000;

/** How far the clocks of two processes may differ. */
const MARGIN_MS = 5_000;

const MAX_WAIT_MS = 6 * SLOT_MS;

const POLL_BACKOFF = { firstMs: 5, maxMs: 50, factor: 1.2, jitter: 0.5 };

/** Without a row and an end if this n8n version has no separate rows. */
type Lock = { row?: NamedRow; end?: StoredDeadline };

/**
 * Runs one function per workflow at a time, in all processes of n8n. In one process, the caller must do so.
 *
 * The lock is a row in n8n's database ({@link NamedRow}). Rows don't expire, so the name of each has a time slot. A process
 * inserts the row of the current slot, or the next one if another process has the lock. So two processes take turns. It
 * then waits while earlier rows exist, until their locks have ended.
 *
 * @param run must stop when `requireLock` throws, because another process may have the lock
 * @throws NotSent if n8n's database is unavailable, or other processes have the lock for too long
 */
export async function withWorkflowLock<T>(
	context: IExecuteFunctions,
	use: StoreUse,
	run: (requireLock: () => void) => Promise<T>,
): Promise<T> {
	const { row, end } = await acquire(context).catch((error: unknown) => {
		throw unreachable(use, error);
	});
	const requireLock = () => {
		if (end !== undefined && end.left < 0) throw unreachable(use, 'It took too long.');
	};
	try {
		const result = await run(requireLock);
		requireLock();
		return result;
	} finally {
		await release(row);
	}
}

async function acquire(context: IExecuteFunctions): Promise<Lock> {
	const owner = randomUUID();
	const giveUpAt = clock.elapsed() + MAX_WAIT_MS;
	for (let attempt = 1; clock.elapsed() < giveUpAt; attempt++) {
		const lock = await tryToAcquire(context, owner);
		if (lock !== undefined) return lock;
		await clock.sleep(backoffMs(POLL_BACKOFF, attempt));
	}
	throw new Error('Another process uses it.');
}

/** Undefined if other processes have the lock and wait for it. */
async function tryToAcquire(context: IExecuteFunctions, owner: string): Promise<Lock | undefined> {
	const current = Math.floor(clock.now() / SLOT_MS);
	for (const slot of [current, current + 1]) {
		const row = rowOf(context, slot);
		if (await row.insert(owner)) return await waitForEarlier(context, slot, row);
	}
	return await withoutRows(context);
}

/** Undefined if another process may have missed the row. */
async function waitForEarlier(
	context: IExecuteFunctions,
	slot: number,
	row: NamedRow,
): Promise<Lock | undefined> {
	const end = await untilAlone(context, slot).catch(async (error: unknown) => {
		await release(row);
		throw error;
	});
	if (end !== undefined) return { row, end };
	await release(row);
	return await withoutRows(context);
}

/** @returns when the lock ends. Undefined if n8n's database took too long, so the row of a later slot may exist. */
async function untilAlone(
	context: IExecuteFunctions,
	slot: number,
): Promise<StoredDeadline | undefined> {
	const end = new StoredDeadline(clock, endOf(slot));
	if (await existsAny(context, [slot + 1, slot + 2].filter(mayHaveBegun))) return undefined;
	for (let attempt = 1; end.left > 0; attempt++) {
		const earlier = [slot - 2, slot - 1].filter((one) => clock.now() < endOf(one) + MARGIN_MS);
		if (!(await existsAny(context, earlier))) return end;
		await clock.sleep(backoffMs(POLL_BACKOFF, attempt));
	}
	return undefined;
}

/**
 * Deletes the row in one attempt, because a second one could delete that of another process. If n8n can't, the lock ends
 * with its time slot.
 */
async function release(row: NamedRow | undefined): Promise<void> {
	await row?.delete().catch(() => undefined);
}

async function existsAny(context: IExecuteFunctions, slots: readonly number[]): Promise<boolean> {
	const found = await Promise.all(slots.map(async (slot) => await rowOf(context, slot).exists()));
	return found.includes(true);
}

/** A lock for an n8n version in which all names have the same row. */
async function withoutRows(context: IExecuteFunctions): Promise<Lock | undefined> {
	return (await areRowsSeparate(context)) ? undefined : {};
}

/** When the lock of a slot ends, in epoch milliseconds. The second slot after it begins {@link MARGIN_MS} later. */
function endOf(slot: number): number {
	return (slot + 2) * SLOT_MS - MARGIN_MS;
}

/** The row of a slot is inserted during the slot before, at the earliest. */
function mayHaveBegun(slot: number): boolean {
	return clock.now() > (slot - 1) * SLOT_MS - MARGIN_MS;
}

function rowOf(context: IExecuteFunctions, slot: number): NamedRow {
	return new NamedRow(context, `lock:${slot}`);
}
