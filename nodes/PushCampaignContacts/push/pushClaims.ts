import compact from 'lodash/compact';
import partition from 'lodash/partition';
import { type Claims, MAX_REMEMBERED, type TextList } from '../../core/claims/claims';
import { pushText } from '../../core/campaigns/campaign';
import { NotSent, OutcomeUnknown } from '../../core/service/errors';
import { isJsonObject } from '../../core/values/json';
import { namesOf, phoneKeyOf, PUSH_LIMITS, type Row, settleAll, type Status } from './rows';

/** What n8n stores with the execution of its pushes to a campaign. */
export type PushRecord = {
	/**
	 * By phone key, those that were sent. A number with a claim that isn't among them was sent by an attempt that was killed, or
	 * by another retry.
	 */
	numbers: { [phoneKey: string]: 'sent_before' | 'unknown' };
	/** Of a push with one claim: the rows that it didn't send, and those that are unknown, for a person. */
	left?: { notSent: string; unknown: string };
};

/** n8n stores what this package wrote, so it isn't checked further. */
export function isPushRecord(stored: unknown): stored is PushRecord {
	return isJsonObject(stored) && isJsonObject(stored.numbers);
}

type Rows = readonly Row[];

/** Rows with these statuses are certainly not in the campaign. */
const WITHOUT_EFFECT: ReadonlySet<Row['status']> = new Set([
	'rejected',
	'do_not_disturb',
	'not_sent',
]);

const REASONS = {
	unknown:
		"An earlier run or attempt of this execution may have sent this number, and the outcome is unknown. It wasn't sent again. Look for it in the campaign before you push it in a new execution.",
	sent_before:
		"An earlier run of this workflow sent this number, or may have, so it wasn't sent again.",
};
const FORGET =
	' In n8n, to send it anyway, use DND List > Forget with this number and campaign in this workflow, and empty its push_status.';

/**
 * What a push may send: each number once in the execution, and unless *Numbers Pushed Before* is *Push Again*, once ever to
 * the campaign.
 */
export class PushClaims {
	private readonly isLarge: boolean;
	private readonly large: string;
	private readonly small: string;
	/** Of those, what this push has claimed. */
	private readonly sizes = new Set<string>();
	/** Whether any row may be in the campaign. */
	private hadEffect = false;

	/**
	 * @param claims of the execution
	 * @param ever the list of the workflow, unless *Numbers Pushed Before* is *Push Again*
	 * @param record changed in place
	 * @param count of all rows
	 */
	constructor(
		private readonly claims: Claims,
		private readonly ever: TextList | undefined,
		private readonly record: PushRecord,
		private readonly campaignId: number,
		private readonly count: number,
	) {
		this.isLarge = count > PUSH_LIMITS.claimed;
		this.large = `large push to ${campaignId}`;
		this.small = `push to ${campaignId}`;
	}

	/** Settles the rows whose numbers this execution has sent before. @returns the others */
	leaveOutSent(rows: Rows): Rows {
		const { numbers } = this.record;
		return rows.filter((row) => {
			const before = numbers[phoneKeyOf(row)];
			if (before !== undefined) this.settle([row], before);
			return before === undefined;
		});
	}

	/**
	 * Above 100,000 rows, they share one claim of the execution. Then no other push to the campaign can come before or after it.
	 *
	 * @throws NotSent or OutcomeUnknown if nothing may be sent
	 */
	async begin(): Promise<void> {
		const { claims, record, large, small } = this;
		if (this.isLarge) {
			const added = await claims.add([large, small]);
			for (const name of added) this.sizes.add(name);
			if (!added.has(large)) throw notRemembered(record);
			if (!added.has(small)) throw pushedBefore();
			if (this.ever !== undefined && this.count > MAX_REMEMBERED) throw noRoom();
			return;
		}
		if (record.left !== undefined) throw notRemembered(record);
		if (claims.isFirst) return;
		// n8n can only look a claim up by adding it.
		const isNew = (await claims.add([large])).size > 0;
		if (!isNew) throw notRemembered(record);
		await claims.remove([large]);
	}

	/**
	 * Claims rows, and settles those that were sent before, or may have been.
	 *
	 * @returns those to send
	 * @throws NotSent or OutcomeUnknown if n8n can't write the claims. Then none of them was sent in this attempt.
	 */
	async claim(rows: Rows): Promise<Rows> {
		const fresh = this.isLarge ? rows : await this.claimInExecution(rows);
		if (this.ever === undefined || fresh.length === 0) return fresh;
		const texts = new Map(fresh.map((row) => [row, this.nameOf(row)]));
		const added = await this.ever.add([...texts.values()]).then(
			(all) => new Set(all),
			async (error: unknown) => {
				await this.removeOfExecution(fresh);
				throw error;
			},
		);
		const [unsent, sent] = partition(fresh, (row) => added.has(texts.get(row) ?? ''));
		this.settle(sent, 'sent_before', FORGET);
		// Another execution sent them, so they aren't those of this one.
		await this.removeOfExecution(sent);
		return unsent;
	}

	private async claimInExecution(rows: Rows): Promise<Rows> {
		const added = await this.claims.add([this.small, ...rows.map(this.nameOf)]);
		if (added.has(this.small)) this.sizes.add(this.small);
		const [fresh, claimed] = partition(rows, (row) => added.has(this.nameOf(row)));
		this.settle(claimed, 'unknown');
		return fresh;
	}

	/**
	 * Call this when all of these rows have a status. Removes the claims of those that certainly had no effect, so that they may
	 * be sent again. Never throws.
	 */
	async free(rows: Rows): Promise<void> {
		const [unused, sent] = partition(rows, ({ status }) => WITHOUT_EFFECT.has(status));
		this.hadEffect ||= sent.length > 0;
		for (const row of this.isLarge ? [] : sent) {
			const isUnknown = row.status === 'unknown';
			this.record.numbers[phoneKeyOf(row)] = isUnknown ? 'unknown' : 'sent_before';
		}
		if (unused.length === 0) return;
		await this.removeOfExecution(unused);
		await this.ever?.remove(unused.map(this.nameOf), true).catch(() => undefined);
	}

	/** Of rows that a push doesn't reach, settles those that an earlier attempt may have sent. Sends nothing. */
	async lookUp(rows: Rows): Promise<void> {
		if (this.isLarge || this.claims.isFirst) return;
		await this.removeOfExecution(await this.claimInExecution(rows));
	}

	/** Call this at the end, with all rows of the push. Never throws. */
	async end(rows: Rows): Promise<void> {
		// A push that had no effect keeps no other one from being sent.
		if (!this.hadEffect) await this.claims.remove([...this.sizes]);
		else if (this.isLarge) {
			const namesWith = (status: Status) => namesOf(rows.filter((row) => row.status === status));
			this.record.left = { notSent: namesWith('not_sent'), unknown: namesWith('unknown') };
		}
	}

	private async removeOfExecution(rows: Rows): Promise<void> {
		if (!this.isLarge && rows.length > 0) await this.claims.remove(rows.map(this.nameOf));
	}

	private settle(rows: Rows, status: Status & keyof typeof REASONS, more = ''): void {
		settleAll(rows, { status, reason: REASONS[status] + more });
	}

	private readonly nameOf = (row: Row): string => pushText(this.campaignId, phoneKeyOf(row));
}

/** What a person can do if an earlier attempt may have pushed rows. */
const COMPARE_LISTS =
	"Compare the campaign's newest contact lists with your rows (Campaign Status shows the lists). Then push the missing rows in a new execution.";

function notRemembered({ left }: PushRecord): OutcomeUnknown {
	return refused(
		`This execution may have pushed more than ${max()} rows to the campaign, and n8n doesn't remember that many numbers`,
		left === undefined ? COMPARE_LISTS : whatIsLeft(left),
	);
}

function pushedBefore(): OutcomeUnknown {
	return refused(
		`This execution has pushed to the campaign before, so it can't push more than ${max()} rows to it now`,
		COMPARE_LISTS,
	);
}

function refused(message: string, advice: string): OutcomeUnknown {
	return new OutcomeUnknown(message, `No row was sent now. ${advice}`, { origin: 'n8n' });
}

const max = () => PUSH_LIMITS.claimed.toLocaleString('en-US');

function whatIsLeft({ notSent, unknown }: NonNullable<PushRecord['left']>): string {
	return compact([
		notSent === ''
			? 'Push other rows in a new execution.'
			: `In a new execution, push only what that push didn't send: ${notSent}.`,
		unknown !== '' && `Of that push, these may be in the campaign: ${unknown}.`,
	]).join(' ');
}

function noRoom(): NotSent {
	const max = MAX_REMEMBERED.toLocaleString('en-US');
	return new NotSent(
		`'Numbers Pushed Before' is 'Skip', which remembers at most ${max} numbers, and the push has more rows. Nothing was sent`,
		"In n8n, set it to 'Push Again', and push only new rows.",
		{ isTransient: false, origin: 'n8n' },
	);
}
