import sortedIndexOf from 'lodash/sortedIndexOf';
import { CONTACTS_RESPONSE_FIELDS, pushContacts } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';
import { ExplainedError, InvalidInput, OutcomeUnknown } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/resolution';
import type { JsonObject } from '../../shared/json';
import { ContactBuffer } from './contactBuffer';
import { Prefetcher } from './prefetcher';
import type { PreparedRows } from './prepareRows';
import type { AttemptSettings } from './attemptSettings';
import type { PushProgress, RequestTracker } from './progress';
import type { PushOptions } from './pushOptions';
import type { PushOutcome } from './pushTypes';
import { namedIndexes, type NamedIndexes, RepeatableText } from './rejectedIndexes';
import { requireConsistentCounts } from './responseCounts';
import { pushedRequest } from './skippedRows';

/** Sends the current request, or a part of it, and records what happened to its rows. */
export class RequestSender {
	/** In the current request, including its parts. */
	largestAccepted = 0;
	/** The current request, before it was split. */
	private current: {
		rows: readonly number[];
		contacts: ContactBuffer;
		/** Created for the first rejection. */
		repeatable?: RepeatableText;
	} = { rows: [], contacts: new ContactBuffer(0) };
	private readonly prefetcher: Prefetcher;

	/** @param upcoming the rows that are probably next */
	constructor(
		private readonly prepared: PreparedRows,
		private readonly options: PushOptions,
		private readonly settings: AttemptSettings,
		private readonly progress: PushProgress,
		private readonly outcome: PushOutcome,
		private readonly upcoming: () => readonly number[],
	) {
		this.prefetcher = new Prefetcher(prepared.contactsOf);
	}

	/** Creates the contacts of the next request. */
	async load(rows: readonly number[]): Promise<void> {
		this.largestAccepted = 0;
		this.current = { rows, contacts: await this.prefetcher.contacts(rows) };
	}

	/** Waits until nothing is read anymore. */
	async end(): Promise<void> {
		await this.prefetcher.end();
	}

	/** Why nothing more is sent: the execution was stopped, or the tool must respond. */
	interrupted(): ExplainedError | undefined {
		return this.options.stopRequested() ? pushInterrupted(this.settings) : undefined;
	}

	/** Sends rows as one request and records the result. */
	async send(rows: readonly number[]): Promise<ExplainedError | undefined> {
		const interrupted = this.interrupted();
		if (interrupted !== undefined) return interrupted;
		const tracker = this.progress.begin(rows, this.prepared.keys, this.settings);
		const pending = this.request(rows).catch((error: unknown) =>
			// An unexpected error may occur after the request was sent.
			error instanceof ExplainedError ? error : unexpectedError(error),
		);
		this.prefetcher.begin(this.upcoming());
		const response = await pending;
		if (!(response instanceof ExplainedError)) {
			this.accept(rows, tracker, response);
			return undefined;
		}
		if (response instanceof OutcomeUnknown) tracker.unknown(response);
		else tracker.discard();
		return response;
	}

	/** A contact of the current request, as JSON. */
	contactOf(row: number) {
		return this.current.contacts.at(this.positionOf(row));
	}

	/** The rows of the current request that the service may mean. */
	namedIn(error: ExplainedError): NamedIndexes {
		this.current.repeatable ??= RepeatableText.of(
			this.current.contacts.all(),
			this.options.additions,
		);
		return namedIndexes(error, this.current.repeatable);
	}

	private accept(rows: readonly number[], tracker: RequestTracker, response: JsonObject): void {
		tracker.accepted(response);
		const { request, rejectedRows } = pushedRequest(rows, response, this.prepared.keys);
		this.outcome.pushed.push(request);
		for (const row of rejectedRows) this.outcome.rejectedRows.add(row);
		this.largestAccepted = Math.max(this.largestAccepted, rows.length);
	}

	private positionOf(row: number): number {
		return sortedIndexOf(this.current.rows, row);
	}

	private async request(rows: readonly number[]): Promise<JsonObject> {
		const { client, campaign, additions } = this.options;
		const { current } = this;
		const contacts =
			rows === current.rows
				? current.contacts.all()
				: current.contacts.some(rows.map((row) => this.positionOf(row)));
		const body = { agent_uuid: campaign.agentUuid, enqueue: campaign.enqueue };
		const response = await pushContacts(client, campaign.id, body, contacts, additions);
		const record = recordOf(response, CONTACTS_RESPONSE_FIELDS);
		requireConsistentCounts(record, rows, this.prepared.keys);
		return record;
	}
}

function pushInterrupted({ isTool }: AttemptSettings): ExplainedError {
	return new InvalidInput(
		isTool
			? "The tool ran out of time, so the remaining contacts weren't sent"
			: "The execution was stopped, so the remaining rows weren't sent",
		{
			onScreen: "You can push the rows that weren't sent again.",
			forModel: 'You can push the contacts that were not sent again.',
		},
	);
}

function unexpectedError(error: unknown): OutcomeUnknown {
	const originalMessage = error instanceof Error ? error.message : String(error);
	return new OutcomeUnknown(
		"Something unexpected happened while a request was in flight, so it's unknown whether it took effect",
		onScreenOnly('Check the campaign in the service before you push these rows again.'),
		originalMessage,
	);
}
