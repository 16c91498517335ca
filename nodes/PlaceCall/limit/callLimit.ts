import { DateTime } from 'luxon';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { ExplainedError, NotSent, OutcomeUnknown } from '../../shared/api/errors';
import { onScreenOnly, type Resolution, USER } from '../../shared/api/resolution';
import { inEnglish, pause, withOffset } from '../../shared/clock';
import type { DeduplicationStore } from '../../shared/deduplicationStore';
import { runExclusive } from '../../shared/keyedMutex';
import { clock } from '../../shared/n8n/http/accountClient';
import { nodeKeyOf, repeatOnStore, type StoreUse } from '../../shared/n8n/idempotency/nodeStore';
import {
	openNumberList,
	openWorkflowStore,
	runExclusiveOnWorkflow,
} from '../../shared/n8n/idempotency/workflowStore';
import { cancelSignal, requireRunning } from '../../shared/n8n/run/cancel';
import { asItems } from '../../shared/n8n/run/itemLoop';
import { calledKey } from '../../shared/numberLists/numberLists';
import { NOT_PLACED_REASONS } from '../request/notPlaced';
import {
	CalledNumbers,
	type CallLimit,
	type LimitReached,
	TEXTS_PER_CALL,
} from '../../shared/numberLists/calledNumbers';

/** n8n reads and writes all of them with each call, and the pushed numbers of the workflow, too. */
const MAX_STORED_CALLS = 30_000;
const MAX_TEXTS = MAX_STORED_CALLS * TEXTS_PER_CALL;

const DAY_MS = 24 * 3_600_000;

const STORE: StoreUse = {
	message: "n8n can't read or write the list of called numbers, so the call wasn't placed",
	description:
		"Save the workflow and try again. If that doesn't help, ask your n8n administrator to check n8n's database. Or remove 'Limit Calls per Person' and leave out people who were called recently.",
};

/** When a call is placed, in epoch milliseconds. */
export type CallTimes = {
	/** As planned now. */
	planned: () => number;
	/** As its latest attempt requested, if there was more than one. */
	latest: () => number | undefined;
};

/** *Limit Calls per Person* in one node run. */
export class CallLimiter {
	private readonly store: DeduplicationStore;
	private readonly numbers: CalledNumbers;
	/** The name of the node's list. */
	private list: Promise<string> | undefined;

	constructor(private readonly context: IExecuteFunctions) {
		this.store = openWorkflowStore(context, STORE);
		this.numbers = new CalledNumbers(this.store);
	}

	/**
	 * Records the call, then places it. A call to the same person waits until the outcome of the first one is known.
	 *
	 * @param key equal for equal numbers
	 * @throws TooManyCalls if it isn't placed because of the limit
	 * @throws NotSent if the list of called numbers can't be read and written, or is full
	 */
	async place<T>(
		key: string,
		limit: CallLimit,
		times: CallTimes,
		place: () => Promise<T>,
	): Promise<T> {
		// The first call, not the start of the node, because a retry may have nothing to place.
		const list = await (this.list ??= this.openList());
		return await runExclusive(JSON.stringify([nodeKeyOf(this.context), key]), async () => {
			requireRunning(this.context);
			const recorded = await this.onStore(
				async () =>
					await this.numbers.record(calledKey(list, key), times.planned(), clock.now(), limit),
			);
			if (!('release' in recorded)) {
				throw new TooManyCalls(limit, recorded, this.context.getTimezone());
			}
			const correctTime = async () => {
				const latest = times.latest();
				if (latest !== undefined) await this.update(async () => await recorded.moveTo(latest));
			};
			const result = await place().catch(async (error: unknown) => {
				const mayBePlaced = !(error instanceof ExplainedError) || error instanceof OutcomeUnknown;
				await (mayBePlaced ? correctTime() : this.update(recorded.release));
				throw error;
			});
			await correctTime();
			return result;
		});
	}

	/** Changes a record. If that fails, the number counts as called at the planned time. */
	private async update(change: () => Promise<void>): Promise<void> {
		const signal = cancelSignal(this.context);
		await repeatOnStore(
			async () => await this.onStore(change),
			async (ms) => await pause(clock, ms, signal),
		).catch(() => undefined);
	}

	private async openList(): Promise<string> {
		const owner = { kind: 'calls', node: this.context.getNode().id } as const;
		const { name, texts } = await this.onStore(async () => await openNumberList(this.store, owner));
		const items = this.context.getInputData().length;
		if (texts + items * TEXTS_PER_CALL > MAX_TEXTS) throw listFull(texts, items);
		return name;
	}

	private async onStore<T>(use: () => Promise<T>): Promise<T> {
		return await runExclusiveOnWorkflow(this.context, STORE, use);
	}
}

function listFull(texts: number, items: number): NotSent {
	const [used, max, more] = [Math.floor(texts / TEXTS_PER_CALL), MAX_STORED_CALLS, items].map(
		(count) => count.toLocaleString('en-US'),
	);
	return new NotSent(
		`n8n can remember ${max} calls per workflow. About ${used} are in use, too many to add ${more} more, so no call was placed`,
		onScreenOnly(
			"Execute DND List > Remembered Number > Forget once, with 'All Numbers', or place fewer calls per execution.",
		),
		undefined,
		false,
		'n8n',
	);
}

/** The person isn't called now. */
export class TooManyCalls extends ExplainedError {
	override readonly name = 'TooManyCalls';
	override readonly isFinal = true;
	readonly outcome = 'not_sent';

	constructor(
		limit: CallLimit,
		private readonly reached: LimitReached,
		private readonly zone: string,
	) {
		super(
			`The call wasn't placed, because the limit of ${inWords(limit)} to this number is reached`,
			adviceFor(reached, zone),
		);
	}

	output(): INodeExecutionData[] {
		const time = (at: number) => withOffset(DateTime.fromMillis(at, { zone: this.zone }));
		return asItems({
			placed: false,
			call_id: null,
			not_placed_reason: NOT_PLACED_REASONS.callLimit,
			last_call_at: time(this.reached.latestCall),
			next_call_possible_at: time(this.reached.nextPossible),
		});
	}
}

function inWords({ calls, periodMs }: CallLimit): string {
	const days = periodMs / DAY_MS;
	return `${calls} ${calls === 1 ? 'call' : 'calls'} in ${days} ${days === 1 ? 'day' : 'days'}`;
}

function adviceFor({ latestCall, nextPossible }: LimitReached, zone: string): Resolution {
	const time = (at: number) =>
		inEnglish(DateTime.fromMillis(at, { zone }), 'cccc, d LLLL yyyy, HH:mm');
	const times = `The latest call to it was placed or scheduled for ${time(latestCall)}. The next one is possible from ${time(nextPossible)} (${zone}).`;
	return {
		onScreen: `${times} To call earlier, change 'Limit Calls per Person', or forget the number with DND List > Forget.`,
		forModel: `${times} Do not call this number before that, also not in another format. You can call other people. Tell ${USER} when the next call is possible.`,
	};
}
