import type { ApiClient } from '../../../nodes/shared/api/client';
import { NotSent } from '../../../nodes/shared/api/errors';
import {
	type HttpResponse,
	type ServiceRequest,
	TransportFault,
} from '../../../nodes/shared/api/http';
import { forEveryone } from '../../../nodes/shared/api/resolution';
import type { DeduplicationStore } from '../../../nodes/shared/deduplicationStore';
import { runExclusive } from '../../../nodes/shared/keyedMutex';
import { Notes } from '../../../nodes/shared/n8n/once/notes';
import { prepareRows } from '../../../nodes/PushCampaignContacts/push/prepareRows';
import type { PushRecord } from '../../../nodes/PushCampaignContacts/push/pushRecord';
import {
	type PushOptions,
	pushToCampaign,
} from '../../../nodes/PushCampaignContacts/push/pushToCampaign';
import type { PushOutcome } from '../../../nodes/PushCampaignContacts/push/outcome';
import { ItemRows } from '../../../nodes/PushCampaignContacts/push/rows';
import {
	NumbersOfExecution,
	type NumbersRecord,
} from '../../../nodes/PushCampaignContacts/push/numbersOfExecution';
import { accept, columns, json, phone, phonesOf, scripted } from './push/scripted';
import { clientOf } from '../shared/api/clientOf';

/** What a request does, and what happens in n8n at that moment. */
export const EFFECTS = [
	'accept',
	'accept',
	'stop',
	'rejectFirst',
	'rejectSecond',
	'rejectLast',
	'tooLarge',
	'dnd',
	'duplicate',
	'lose',
	'loseAccepted',
	'wrongCounts',
	'kill',
	'killAccepted',
	'storeFails',
	'storeFailsStored',
] as const;
export type Effect = (typeof EFFECTS)[number];

/** The number of a person, or an unusable cell. */
export type Row = number | '-';

/** One execution: the first one, or a retry. */
export type Attempt = {
	effects: Effect[];
	contactsPerRequest: number;
	/** Other ones change what a row sends. */
	settings: number;
	skipPushedBefore: boolean;
	/** Whether *Retry On Fail* is on. */
	triesAgain: boolean;
	/** Whether *On Error* is set to continue. */
	continues: boolean;
	/** Writes to n8n's database until n8n is killed. */
	writes: number;
};

/** What n8n has stored of an execution. */
export type Execution = {
	batches: Row[][];
	/** The run of the node, as in a loop. */
	run: number;
	record: PushRecord;
	numbers: NumbersRecord;
};

export const newExecution = (batches: Row[][]): Execution => ({
	batches,
	run: 0,
	record: {},
	numbers: { count: 0, lists: {} },
});

class Killed extends Error {}

class Store implements DeduplicationStore {
	private readonly texts = new Set<string>();

	async add(texts: string[]): Promise<string[]> {
		await Promise.resolve();
		const added = texts.filter((text) => !this.texts.has(text));
		for (const text of added) this.texts.add(text);
		return added;
	}

	async remove(texts: string[]): Promise<void> {
		await Promise.resolve();
		for (const text of texts) this.texts.delete(text);
	}

	async clear(): Promise<void> {
		await Promise.resolve();
		this.texts.clear();
	}

	async count(): Promise<number> {
		return await Promise.resolve(this.texts.size);
	}
}

/** The process of one execution, which ends when n8n is killed. */
class Process {
	isKilled = false;
	fails: 'before' | 'after' | undefined;

	constructor(private writes: number) {}

	use(store: Store): DeduplicationStore {
		return {
			add: async (texts) => await this.write(async () => await store.add(texts)),
			remove: async (texts) => await this.write(async () => await store.remove(texts)),
			clear: async () => await this.write(async () => await store.clear()),
			count: async () => await store.count(),
		};
	}

	private async write<T>(run: () => Promise<T>): Promise<T> {
		this.isKilled ||= this.writes-- <= 0;
		if (this.isKilled) throw new Killed();
		const { fails } = this;
		this.fails = undefined;
		if (fails === 'before') throw storeFails();
		const result = await run();
		if (fails === 'after') throw storeFails();
		return result;
	}
}

function storeFails(): NotSent {
	return new NotSent('The database is locked', forEveryone('Try again.'));
}

/** The service and n8n's database, which outlive executions. */
export class World {
	/** How often the service accepted each number. */
	readonly accepted = new Map<string, number>();
	private readonly notes = new Store();
	private readonly list = new Store();
	private lists = 500;
	private executions = 0;

	/** @param onOutcome called for each run of the node that n8n stores */
	constructor(private readonly onOutcome: (batch: Row[], outcome: PushOutcome) => void) {}

	/** @returns what n8n has stored, or how it ended otherwise */
	async run(
		stored: Execution,
		attempt: Attempt,
		isFirstAttempt: boolean,
	): Promise<Execution | 'succeeded' | 'killed'> {
		const execution = structuredClone(stored);
		const executionId = `execution ${++this.executions}`;
		const process = new Process(attempt.writes);
		const notes = new Notes({
			store: process.use(this.notes),
			origin: { startedAt: 1, executionId, isSubExecution: false },
			isFirstAttempt,
			exclusive: async (run) => await runExclusive(this.notes, run),
		});
		const client = this.clientForProcess(process, attempt.effects);
		for (; execution.run < execution.batches.length; execution.run++) {
			const batch = execution.batches[execution.run] ?? [];
			const push = this.pushUntilDone(batch, { execution, attempt, notes, client, process });
			const outcome = await push.catch((error: unknown) => {
				if (!process.isKilled) throw error;
			});
			if (process.isKilled || outcome === undefined) return 'killed';
			this.onOutcome(batch, outcome);
			if (outcome.stopped !== undefined && !attempt.continues) {
				// n8n has stored the execution by then.
				if (isFirstAttempt) await notes.clear().catch(() => undefined);
				return execution;
			}
			execution.record = {};
		}
		return 'succeeded';
	}

	/** With *Retry On Fail*, n8n runs the node a second time. */
	private async pushUntilDone(batch: readonly Row[], run: Run): Promise<PushOutcome> {
		const outcome = await this.push(batch, run);
		const isDone = outcome.stopped === undefined || run.process.isKilled;
		return isDone || !run.attempt.triesAgain ? outcome : await this.push(batch, run);
	}

	/** As `runPush` does. */
	private async push(
		batch: readonly Row[],
		{ execution, attempt, notes, client, process }: Run,
	): Promise<PushOutcome> {
		const { skipPushedBefore, contactsPerRequest, settings } = attempt;
		const items = batch.map((row) => ({ json: { phone: row === '-' ? row : phone(row) } }));
		const source = new ItemRows(items, async () => {});
		const list = process.use(this.list);
		const exclusive = async <T>(use: () => Promise<T>) => await runExclusive(this.list, use);
		const options: PushOptions = {
			...scripted(accept).options,
			client,
			contactsPerRequest,
			additions: settings === 0 ? {} : { body: { settings } },
			record: execution.record,
			numbersOfExecution: new NumbersOfExecution(execution.numbers, 42),
			note: async (chunk, push) => {
				const place = ['push', 42, execution.run, chunk];
				return await notes.add({ target: place, identity: push, isPart: true });
			},
			numbersPushedBefore: skipPushedBefore
				? {
						...list,
						add: async (texts) => await exclusive(async () => await list.add(texts)),
						remove: async (texts) => await exclusive(async () => await list.remove(texts)),
					}
				: undefined,
		};
		return await pushToCampaign(source, await prepareRows(source, columns, options), options);
	}

	private clientForProcess(process: Process, effects: readonly Effect[]): ApiClient {
		let requests = 0;
		const transport = async (request: ServiceRequest) => {
			await Promise.resolve();
			if (process.isKilled) throw new TransportFault('ECONNREFUSED', 'ECONNREFUSED');
			return this.respond(phonesOf(request), effects[requests++] ?? 'accept', process);
		};
		return clientOf(transport);
	}

	private respond(phones: string[], effect: Effect, process: Process): HttpResponse {
		const [first = '', ...others] = phones;
		const named = { rejectFirst: 0, rejectSecond: 1, rejectLast: phones.length };
		const status = { stop: 401, tooLarge: phones.length > 1 ? 413 : undefined };
		const skipped = { dnd: { dnd_skipped: [{ phone: first }] }, duplicate: duplicate(first) };
		if (isKeyOf(named, effect)) {
			const error = `contacts[${named[effect]}].city is invalid`;
			return json(400, { success: false, error });
		}
		if (isKeyOf(status, effect) && status[effect] !== undefined) return json(status[effect], {});
		if (effect === 'kill' || effect === 'killAccepted') process.isKilled = true;
		if (effect === 'storeFails') process.fails = 'before';
		if (effect === 'storeFailsStored') process.fails = 'after';
		if (effect === 'kill' || effect === 'lose') throw new TransportFault('ECONNRESET', '');
		const isSkipping = isKeyOf(skipped, effect);
		for (const one of isSkipping ? others : phones) {
			this.accepted.set(one, (this.accepted.get(one) ?? 0) + 1);
		}
		if (effect === 'loseAccepted') throw new TransportFault('ECONNRESET', '');
		if (effect === 'wrongCounts') return accept([...phones, first], ++this.lists);
		if (!isSkipping) return accept(phones, ++this.lists);
		const data = { campaign_upload_id: ++this.lists, contacts_accepted: others.length };
		return json(200, { success: true, data: { ...data, ...skipped[effect] } });
	}
}

type Run = {
	execution: Execution;
	attempt: Attempt;
	notes: Notes;
	client: ApiClient;
	process: Process;
};

const duplicate = (number: string) => ({ engine_skipped_duplicates: [number] });

function isKeyOf<T extends object>(object: T, key: PropertyKey): key is keyof T {
	return key in object;
}
