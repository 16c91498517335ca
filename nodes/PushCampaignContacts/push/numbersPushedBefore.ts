import partition from 'lodash/partition';
import sortBy from 'lodash/sortBy';
import { NotSent } from '../../core/service/errors';
import type { Reader, Resolution } from '../../core/service/resolution';
import { pushTexts } from '../../core/campaigns/campaign';
import { type DeduplicationStore, MAX_REMEMBERED } from '../../core/ledger/store';
import type { CheckResult, PushedBeforeStatus, PushedRequest } from './outcome';
import { phoneKeyOf, type Row, settleAll } from './rows';

const TO_SEND_ANYWAY =
	"To send it anyway, add DND List to this workflow, set 'Resource' to 'Remembered Number', 'Phone' to the number, and 'Campaign ID' to this campaign.";
const REASONS: Record<PushedBeforeStatus, Resolution> = {
	pushed_before: {
		onScreen: `An earlier push of this workflow released this number to the calling queue of the campaign, so it wasn't sent again. ${TO_SEND_ANYWAY}`,
		forModel: "This number was pushed to the campaign before, so it wasn't sent again.",
	},
	waiting_before: {
		onScreen:
			"An earlier push of this workflow added this number and didn't release it, as with 'Add and Let Wait', so it waits in the campaign. It wasn't sent again, because that may add the person twice. The service's documentation doesn't show how to release it, so ask your provider.",
		forModel:
			"This number was pushed to the campaign before and waits there, so it wasn't sent again.",
	},
	unknown_before: {
		onScreen: `An earlier push of this workflow sent this number, or began to, and the outcome is unknown, or the service skipped it as a duplicate. It may be in the campaign and may be called. It wasn't sent again. Look for it in the campaign. ${TO_SEND_ANYWAY}`,
		forModel:
			"An earlier push of this number began, and its outcome is unknown, so it wasn't sent again.",
	},
};

/**
 * n8n compares each looked-up text that is new with the whole list. This many comparisons take about a second, in which another
 * worker may overwrite the list, as while a push reserves its numbers.
 */
const MAX_COMPARISONS_OF_CHECK = 100_000_000;

/** *Skip Numbers Pushed Before*: the numbers that were pushed to a campaign, across all executions. */
export class NumbersPushedBefore {
	/** What the service reported of numbers, and isn't stored yet. */
	private reported: string[] = [];
	/** Rows of a chunk whose numbers this attempt stored. */
	private readonly reserved = new Set<Row>();
	/** Rows whose numbers were stored before. */
	private readonly known: Row[] = [];

	constructor(
		private readonly store: DeduplicationStore,
		private readonly campaignId: number,
		private readonly reader: Reader,
	) {}

	/** @throws NotSent if n8n would forget some numbers of a push before its end */
	requireRoom(rows: number): void {
		if (rows > MAX_ROWS) throw noRoom();
	}

	/**
	 * Remembers numbers before they are sent, and what was confirmed before. Settles the rows whose numbers are known.
	 *
	 * @returns the rows to send
	 */
	async reserve(rows: Rows): Promise<Rows> {
		const others = rows.filter((row) => !this.reserved.has(row));
		if (others.length === 0) return rows;
		const textOf = this.textOf('begun');
		const added = new Set(await this.store.add([...this.reported, ...others.map(textOf)]));
		this.reported = [];
		const [fresh, known] = partition(others, (row) => added.has(textOf(row)));
		for (const row of fresh) this.reserved.add(row);
		this.known.push(...known);
		this.report(known, 'unknown_before');
		return rows.filter((row) => this.reserved.has(row));
	}

	/**
	 * Leaves out the rows of a check whose push has ended. Whether a push of the others began isn't looked up, because a number
	 * would count as begun if that was interrupted.
	 *
	 * @throws NotSent if n8n's database is unavailable
	 */
	async leaveOutOfCheck(
		rows: Rows,
	): Promise<{ ready: Rows } & Pick<CheckResult, 'readyMayInclude'>> {
		const stored = await this.store.count();
		if (stored === 0) return { ready: rows };
		if (rows.length * (rows.length + stored) > MAX_COMPARISONS_OF_CHECK)
			return { ready: rows, readyMayInclude: 'pushedBefore' };
		const { others, isComplete } = await this.leaveOutEnded(rows);
		const readyMayInclude = isComplete ? 'unknownBefore' : 'pushedBefore';
		return { ready: others, readyMayInclude };
	}

	/**
	 * Takes what the service reported. It's stored with the numbers of the next request, or by {@link storeReported} after the
	 * last one, because n8n reads and writes all numbers each time.
	 */
	confirm({ rows, response: { enqueued } }: PushedRequest): void {
		if (typeof enqueued !== 'boolean') return;
		this.reported.push(...rows.map(this.textOf(enqueued ? 'released' : 'unreleased')));
	}

	/** Never throws: without it, later executions report the rows as unknown. */
	async storeReported(): Promise<void> {
		const { reported } = this;
		this.reported = [];
		if (reported.length > 0) await this.store.add(reported).catch(() => undefined);
	}

	/**
	 * Forgets the rows of a chunk that certainly had no effect, so that a later execution may send them. Never throws: if n8n
	 * can't forget them, that execution doesn't send them, and reports them as `unknown_before`.
	 */
	async endChunk(): Promise<void> {
		const rows = [...this.reserved].filter(({ status }) => WITHOUT_EFFECT.has(status));
		this.reserved.clear();
		if (rows.length === 0) return;
		await this.store.remove(rows.map(this.textOf('begun'))).catch(() => undefined);
	}

	/**
	 * Settles the rows with known numbers, and of those that an earlier attempt began, that were reported as released or waiting.
	 * Once for a whole push, because n8n reads and writes all numbers each time. What n8n can't tell isn't known.
	 */
	async settleEnded(begun: Rows): Promise<void> {
		const rows = sortBy([...begun, ...this.known], 'index');
		await this.leaveOutEnded(rows).catch(() => undefined);
	}

	private async leaveOutEnded(rows: Rows): Promise<{ others: Rows; isComplete: boolean }> {
		let others = rows;
		let isComplete = true;
		for (const end of ENDS) {
			const known = others.length === 0 ? new Set() : await this.find(others, end);
			if (known === undefined) {
				isComplete = false;
				continue;
			}
			const textOf = this.textOf(end);
			const [ended, left] = partition(others, (row) => known.has(textOf(row)));
			this.report(ended, STATUSES[end]);
			others = left;
		}
		return { others, isComplete };
	}

	private report(rows: Rows, status: PushedBeforeStatus): void {
		settleAll(rows, { status, reason: REASONS[status][this.reader] });
	}

	/** @returns the texts that are known. Undefined if an earlier look-up was interrupted. */
	private async find(rows: Rows, end: End): Promise<ReadonlySet<string> | undefined> {
		const sign = `look-up of ${end} ${this.campaignId}`;
		const known = await this.store.find(rows.map(this.textOf(end)), sign);
		return known && new Set(known);
	}

	private textOf(fact: Fact): (row: Row) => string {
		return (row) => pushTexts(this.campaignId, phoneKeyOf(row))[fact];
	}
}

type Rows = readonly Row[];
type Fact = keyof ReturnType<typeof pushTexts>;

/** How a push can end, as the service reports it. */
const ENDS = ['released', 'unreleased'] as const;
type End = (typeof ENDS)[number];

const STATUSES: Record<End, PushedBeforeStatus> = {
	released: 'pushed_before',
	unreleased: 'waiting_before',
};

/** Rows with these statuses are certainly not in the campaign. */
const WITHOUT_EFFECT: ReadonlySet<Row['status']> = new Set([
	'rejected',
	'do_not_disturb',
	'not_sent',
]);

/** A pushed number takes two texts. */
const MAX_ROWS = MAX_REMEMBERED / 2;

function noRoom(): NotSent {
	const max = MAX_ROWS.toLocaleString('en-US');
	return new NotSent(
		`'Skip Numbers Pushed Before' can remember ${max} numbers, so a push can have at most ${max} rows. Nothing was sent`,
		{
			onScreen: "Split the file. Or turn off 'Skip Numbers Pushed Before' and push only new rows.",
			forModel: `Send at most ${max} contacts.`,
		},
		{ isTransient: false, origin: 'n8n' },
	);
}
