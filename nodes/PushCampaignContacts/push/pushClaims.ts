import compact from 'lodash/compact';
import partition from 'lodash/partition';
import type { Claims } from '../../core/claims/claims';
import { MAX_REMEMBERED, type TextList } from '../../core/claims/textList';
import { pushText } from '../../core/campaigns/campaign';
import { NotSent, OutcomeUnknown } from '../../core/service/errors';
import type { Reader, Resolution } from '../../core/service/resolution';
import { isJsonObject } from '../../core/values/json';
import type { RowStatus } from './outcome';
import { namesOf, phoneKeyOf, PUSH_LIMITS, type Row, settleAll } from './rows';

/** What n8n stores with the execution of its pushes to a campaign. */
export type PushRecord = {
	/** The phone keys of rows whose outcome is unknown. */
	unknown: string[];
	/** Whether a push has ended. n8n stores nothing of one that was killed. */
	hasEnded?: true;
	/** The ID of an execution whose earlier attempt may have been killed, so that any row that that one claimed is unknown. */
	afterKill?: string;
	/** Of a push with one claim: the rows that it didn't send, and those that are unknown, for a person. */
	left?: { notSent: string; unknown: string };
};

/** n8n stores what this package wrote, so the texts aren't checked. */
export function isPushRecord(stored: unknown): stored is PushRecord {
	return isJsonObject(stored) && Array.isArray(stored.unknown);
}

type Rows = readonly Row[];

/** Rows with these statuses are certainly not in the campaign. */
const WITHOUT_EFFECT: ReadonlySet<Row['status']> = new Set([
	'rejected',
	'do_not_disturb',
	'not_sent',
]);

const REASONS: Record<'unknown' | 'sent_before', Resolution> = {
	unknown: {
		onScreen:
			"An earlier run or attempt of this execution may have sent this number, and the outcome is unknown. It wasn't sent again. Look for it in the campaign before you push it in a new execution.",
		forModel:
			'This contact may have been pushed before, but the result is unknown. It was not sent again.',
	},
	sent_before: {
		onScreen:
			"An earlier run of this workflow sent this number, or may have, so it wasn't sent again.",
		forModel:
			'This number was pushed to the campaign before, or may have been. It was not sent again.',
	},
};
const FORGET =
	' To send it anyway, use DND List > Forget with this number and campaign in this workflow, and empty its push_status.';

/** What a push may send: each number once in the execution, and with *Skip Numbers Pushed Before* once ever to the campaign. */
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
	 * @param ever the list of the workflow, with *Skip Numbers Pushed Before*
	 * @param record changed in place
	 * @param count of all rows
	 */
	constructor(
		private readonly claims: Claims,
		private readonly ever: TextList | undefined,
		private readonly record: PushRecord,
		private readonly executionId: string,
		private readonly campaignId: number,
		private readonly reader: Reader,
		count: number,
	) {
		this.isLarge = count > PUSH_LIMITS.claimed;
		this.large = `large push to ${campaignId}`;
		this.small = `push to ${campaignId}`;
	}

	/**
	 * Above 100,000 rows, they share one claim of the execution. Then no other push to the campaign can come before or after it.
	 *
	 * @throws NotSent or OutcomeUnknown if nothing may be sent
	 */
	async begin(count: number): Promise<void> {
		if (this.ever !== undefined && count > MAX_REMEMBERED) throw noRoom();
		const { claims, record, large, small } = this;
		if (this.isLarge) {
			const added = await claims.add([large, small]);
			for (const name of added) this.sizes.add(name);
			if (!added.has(large)) throw notRemembered(record);
			if (!added.has(small)) throw pushedBefore();
			return;
		}
		if (record.left !== undefined) throw notRemembered(record);
		if (claims.isFirst) return;
		if (record.hasEnded !== true && (await claims.mayHaveBegun())) {
			record.afterKill = this.executionId;
		}
		// Also after a push that ended, because the execution may have been retried before. n8n can only look a claim up by
		// adding it.
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
		const texts = new Map(fresh.map((row) => [row, pushText(this.campaignId, phoneKeyOf(row))]));
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
		const unknown = new Set(this.record.unknown);
		const { hasEnded, afterKill } = this.record;
		const areUnknown = hasEnded !== true || afterKill === this.executionId;
		const isUnknown = (row: Row) => areUnknown || unknown.has(phoneKeyOf(row));
		const [perhaps, sent] = partition(claimed, isUnknown);
		this.settle(perhaps, 'unknown');
		this.settle(sent, 'sent_before');
		return fresh;
	}

	/** Removes the claims of rows that certainly had no effect, so that they may be sent again. Never throws. */
	async free(rows: Rows): Promise<void> {
		const unused = rows.filter(({ status }) => WITHOUT_EFFECT.has(status));
		this.hadEffect ||= unused.length < rows.length;
		if (unused.length === 0) return;
		await this.removeOfExecution(unused);
		const texts = unused.map((row) => pushText(this.campaignId, phoneKeyOf(row)));
		await this.ever?.remove(texts).catch(() => undefined);
	}

	/** Of rows that a push doesn't reach, settles those that an earlier attempt or run may have sent. Sends nothing. */
	async lookUp(rows: Rows): Promise<void> {
		if (this.isLarge || (this.claims.isFirst && this.record.hasEnded !== true)) return;
		await this.removeOfExecution(await this.claimInExecution(rows));
	}

	/**
	 * Call this at the end, with all rows of the push. Never throws.
	 */
	async end(rows: Rows): Promise<void> {
		const { record } = this;
		const unknown = rows.filter(({ status, phone }) => status === 'unknown' && phone !== '');
		record.unknown = [...new Set([...record.unknown, ...unknown.map(phoneKeyOf)])];
		if (this.isLarge && this.hadEffect) {
			const notSent = namesOf(rows.filter(({ status }) => status === 'not_sent'));
			record.left ??= { notSent, unknown: namesOf(unknown) };
		}
		// A push that had no effect keeps no other one from being sent.
		if (!this.hadEffect) await this.claims.remove([...this.sizes]);
		record.hasEnded = true;
	}

	private async removeOfExecution(rows: Rows): Promise<void> {
		if (!this.isLarge && rows.length > 0) await this.claims.remove(rows.map(this.nameOf));
	}

	private settle(rows: Rows, status: RowStatus & keyof typeof REASONS, more = ''): void {
		const { onScreen, forModel } = REASONS[status];
		const reason = this.reader === 'onScreen' ? onScreen + more : forModel;
		settleAll(rows, { status, reason });
	}

	private readonly nameOf = (row: Row): string => pushText(this.campaignId, phoneKeyOf(row));
}

/** What a person can do if an earlier attempt may have pushed rows. */
export const COMPARE_LISTS =
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
	const resolution = {
		onScreen: `No row was sent now. ${advice}`,
		forModel: 'No contact was sent now.',
	};
	return new OutcomeUnknown(message, resolution, { origin: 'n8n' });
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
		`'Skip Numbers Pushed Before' can remember ${max} numbers, so a push can have at most ${max} rows. Nothing was sent`,
		{
			onScreen: "Split the file. Or turn off 'Skip Numbers Pushed Before' and push only new rows.",
			forModel: `Send at most ${max} contacts.`,
		},
		{ isTransient: false, origin: 'n8n' },
	);
}
