import uniq from 'lodash/uniq';
import type { IExecuteFunctions } from 'n8n-workflow';
import { callKey } from '../shared/calls/report';
import { shortFingerprint } from '../shared/hash';
import { isJsonObject } from '../shared/json';
import { ExecutionStore } from '../shared/n8n/idempotency/executionStore';

/** Of the latest calls, about 150 KB in the stored execution. */
const MAX_CALLS = 10_000;
const FINGERPRINT_LENGTH = 12;

type KnownCallsRecord = { calls: string[] };

/** The calls of an execution that belong to an item, of all Place Call nodes of the workflow in all their runs. */
export class KnownCalls {
	private readonly record: KnownCallsRecord;
	private readonly known: Set<string>;

	/** @throws InvalidInput if the record of an earlier attempt can't be read */
	constructor(context: IExecuteFunctions) {
		const store = new ExecutionStore(context, 'calls', isRecord, 'workflow', 'execution');
		this.record = store.read() ?? { calls: [] };
		store.write(this.record);
		this.known = new Set(this.record.calls);
	}

	has(callId: unknown): boolean {
		return typeof callId === 'string' && this.known.has(fingerprintOf(callId));
	}

	add(callId: unknown): void {
		if (typeof callId === 'string') this.known.add(fingerprintOf(callId));
	}

	/** Call this when the node run ends, because the records of its items are removed then. */
	save(): void {
		// Tools that ran at the same time may have saved others.
		this.record.calls = uniq([...this.record.calls, ...this.known]).slice(-MAX_CALLS);
	}
}

function fingerprintOf(callId: string): string {
	return shortFingerprint(callKey(callId), FINGERPRINT_LENGTH);
}

function isRecord(stored: unknown): stored is KnownCallsRecord {
	if (!isJsonObject(stored)) return false;
	const { calls } = stored;
	return Array.isArray(calls) && calls.every((call) => typeof call === 'string');
}
