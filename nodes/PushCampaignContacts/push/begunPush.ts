import difference from 'lodash/difference';
import { OutcomeUnknown } from '../../shared/api/errors';
import { isJsonObject } from '../../shared/json';

/** Records what a push is about to send. */
export type PushLog = {
	/** @returns whether an earlier attempt of the execution began the target */
	begin(target: unknown): Promise<boolean>;
	/** Removes a target that certainly had no effect. */
	release(target: unknown): Promise<void>;
	/** Records nothing. @returns for each target whether an earlier attempt began it */
	findBegun(targets: readonly unknown[]): Promise<boolean[]>;
	/** The same for one target, which the push may still begin as if it hadn't asked. */
	wasBegun(target: unknown): Promise<boolean>;
};

/** Shared by all runs of the node, and stored with the execution. */
export type RowsMemory = {
	/** The rows differ from those that an earlier attempt pushed. */
	areChanged?: true;
	/** Number of pushes that began, by campaign. */
	pushes?: { [campaign: string]: number };
	/**
	 * Pushes that have sent nothing. They are recorded with the next one that sends rows: without them, a retry whose rows
	 * moved to another push couldn't know that they were sent.
	 */
	unrecorded?: PushId[];
};

/** Identifies the rows of a push and their blocks. */
export type RowsId = { campaign: number; fingerprint: string; blockSize: number };

/** `pushIndex` is the number of the push among those to its campaign, independent of its rows. */
type PushId = RowsId & { pushIndex: number };

export type BegunPushOptions = {
	log: PushLog;
	campaign: number;
	executionId: string;
	/** The part of the checkpoint that this needs. Changed in place. */
	push: { notedBy?: string; pushIndex?: number };
	/** Shared by all runs of the node: if rows have changed in one run, they may be in any run. */
	memory: RowsMemory;
};

/** n8n stores them with the execution. */
const MAX_UNRECORDED = 100;

/** Recognizes a push that an earlier attempt of the execution began, with the same rows or with other ones. */
export class BegunPush {
	constructor(
		private readonly options: BegunPushOptions,
		private readonly rowsId: RowsId,
	) {}

	/** Whether an earlier attempt began it with other rows. */
	get isAnother(): boolean {
		return this.options.memory.areChanged === true;
	}

	/**
	 * Records nothing, because a later attempt would take other rows for those of this push.
	 *
	 * @returns whether an earlier attempt began it with the same rows
	 */
	async find(): Promise<boolean> {
		const { log, executionId, push, memory } = this.options;
		if (this.isAnother || push.notedBy === executionId) return false;
		const id = { ...this.rowsId, pushIndex: pushIndexOf(this.options) };
		const targets = [...targetsOf(id), ['search', id.pushIndex, ...valuesOf(id)]];
		// What a search finds can be left over from an earlier one that was interrupted. Then it also finds that search.
		const [isBegun, isFound, isLeftOver] = await log.findBegun(targets);
		const isSame = isFound === true && isLeftOver !== true;
		const others = memory.unrecorded?.filter((other) => !isSamePush(other, id)) ?? [];
		memory.unrecorded = isBegun === true ? others : [...others, id];
		if (memory.unrecorded.length > MAX_UNRECORDED) await this.recordPushes();
		if (isBegun !== true) return false;
		push.notedBy = executionId;
		if (!isSame) memory.areChanged = true;
		return isSame;
	}

	/**
	 * Records the push.
	 *
	 * @throws OutcomeUnknown if another retry began it with other rows at the same moment
	 */
	async begin(): Promise<void> {
		const { executionId, push } = this.options;
		if (push.notedBy === executionId) return;
		await this.recordPushes();
		push.notedBy = executionId;
		if (this.isAnother) throw rowsChanged();
	}

	private async recordPushes(): Promise<void> {
		const { log, memory } = this.options;
		const pushes = memory.unrecorded ?? [];
		const areChanged = await Promise.all(
			pushes.map(async (push) => {
				const begin = async (target: unknown) => await log.begin(target);
				const [isBegun, isSame] = await Promise.all(targetsOf(push).map(begin));
				const isChanged = isBegun === true && isSame !== true;
				// So that a later attempt with these rows finds that another push was begun.
				if (isChanged) await log.release(targetOfRows(push));
				return isChanged;
			}),
		);
		memory.unrecorded = difference(memory.unrecorded, pushes);
		if (areChanged.includes(true)) memory.areChanged = true;
	}
}

/** The number of this push among those to its campaign, independent of its rows. */
export function pushIndexOf({ campaign, push, memory }: BegunPushOptions): number {
	if (push.pushIndex === undefined) {
		push.pushIndex = memory.pushes?.[campaign] ?? 0;
		memory.pushes = { ...memory.pushes, [campaign]: push.pushIndex + 1 };
	}
	return push.pushIndex;
}

/** The push, and the push with its rows. */
function targetsOf(push: PushId): unknown[] {
	return [targetOfPush(push), targetOfRows(push)];
}

function targetOfRows(push: PushId): unknown {
	return ['rows', push.pushIndex, ...valuesOf(push)];
}

export function targetOfPush({
	campaign,
	pushIndex,
}: Pick<PushId, 'campaign' | 'pushIndex'>): unknown {
	return ['push', campaign, pushIndex];
}

export function valuesOf({ campaign, fingerprint, blockSize }: RowsId): unknown[] {
	return [campaign, fingerprint, blockSize];
}

function isSamePush(one: PushId, other: PushId): boolean {
	return one.campaign === other.campaign && one.pushIndex === other.pushIndex;
}

/** Whether an earlier attempt of the execution pushed rows to the campaign. Records nothing. */
export async function beganBefore(options: BegunPushOptions): Promise<boolean> {
	const { log, memory, campaign } = options;
	if (memory.areChanged !== true) {
		const push = targetOfPush({ campaign, pushIndex: pushIndexOf(options) });
		const [isBegun] = await log.findBegun([push]);
		if (isBegun === true) memory.areChanged = true;
	}
	return memory.areChanged === true;
}

/** No row is sent, because any of them may be in the campaign. */
export function rowsChanged(): OutcomeUnknown {
	return new OutcomeUnknown(
		"The rows or the options changed since an earlier attempt of this execution, so the node can't know which rows it pushed",
		{
			onScreen:
				"No row was sent again. Compare the campaign's newest contact lists with your rows (Campaign Status shows the lists). Then push the missing rows in a new execution.",
			forModel: 'No row was sent again.',
		},
		undefined,
		undefined,
		'n8n',
	);
}

export function isRowsMemory(stored: unknown): stored is RowsMemory {
	if (!isJsonObject(stored)) return false;
	const { areChanged, pushes = {}, unrecorded = [] } = stored;
	return (
		(areChanged === undefined || areChanged === true) &&
		isJsonObject(pushes) &&
		Object.values(pushes).every((count) => typeof count === 'number') &&
		Array.isArray(unrecorded) &&
		unrecorded.every(isPushId)
	);
}

function isPushId(stored: unknown): boolean {
	if (!isJsonObject(stored)) return false;
	const { campaign, pushIndex, fingerprint, blockSize } = stored;
	return (
		[campaign, pushIndex, blockSize].every((number) => typeof number === 'number') &&
		typeof fingerprint === 'string'
	);
}
