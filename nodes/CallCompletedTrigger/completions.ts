import pLimit from 'p-limit';
import type {
	IExecuteFunctions,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { READS_AT_ONCE } from '../core/service/limits';
import { comparedReport, isWanted, outcomeKey } from '../core/calls/callEnd';
import { flatCallRecord } from '../core/calls/callRecord';
import { readIncluded } from '../core/calls/readCall';
import {
	MAX_CALLS_PER_REPORT,
	type ReportedCall,
	readReport,
} from '../core/calls/completionWebhook';
import { isJsonObject, type JsonObject } from '../core/values/json';
import { type CompletionSettings, readCompletionSettings } from '../host/forms/callTriggerFields';
import { NodeParameters } from '../host/forms/nodeParameters';
import { createAccountClient } from '../host/http/accountClient';
import { clock } from '../host/clock';
import { cancellableSleep } from '../host/execution/cancel';
import { itemsGiven } from '../host/run/executeOnce';
import { asItems } from '../host/run/itemLoop';
import { toErrorItem, toNodeError } from '../host/http/nodeErrors';
import { newEvents } from '../host/triggers/newEvents';
import { readBody, reject } from '../host/triggers/webhookRequest';
import { completionFields } from './properties';
import { notRead, readCompletedCall } from './readCompletedCall';
import { type Explanation, onScreenOnly } from '../core/service/resolution';
import { addHints } from '../host/execution/hints';
import { quoted } from '../core/values/values';

/** Starts an execution with an item for each call that the request reports. */
export async function receiveReport(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		const body = await readBody(context);
		const calls = readReport(body ?? null);
		if (calls.length > MAX_CALLS_PER_REPORT) {
			return reject(context, 400, `The body has more than ${MAX_CALLS_PER_REPORT} calls.`);
		}
		if (calls.length === 0) return reject(context, 400, 'The body has no call_id.');
		return { workflowData: [asItems(calls.map(hintOf))] };
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/** What is read or compared, because n8n stores it with the execution, and the report may be forged. */
function hintOf(call: ReportedCall): JsonObject {
	return { call_id: call.callId, ...comparedReport(call) };
}

/** Passes on the reported calls that have ended, match the filters, and weren't passed on before. */
export async function passCompleted(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	try {
		const settings = readCompletionSettings(new NodeParameters(context, completionFields).at(0));
		const reports = itemsGiven(context).map(({ json }) => json);
		const calls = reports.filter(isJsonObject).flatMap(readReport);
		const { completed, failed } = await readCalls(context, calls, settings);
		const byKey = new Map(completed.map((call) => [outcomeKey(call.callId, call.record), call]));
		const isNew = await newEvents(context, [...byKey.keys()]);
		const passed = [...byKey].flatMap(([key, call]) => (isNew.has(key) ? [call.record] : []));
		return [
			[
				...asItems(passed.map((record) => flatCallRecord(record, settings.filters.optOut.key))),
				...failed,
			],
		];
	} catch (error) {
		// Otherwise, n8n passes the reports on as they came.
		if (context.continueOnFail()) return [[toErrorItem(error, { itemIndex: 0, of: 1 })]];
		throw toNodeError(context.getNode(), error);
	}
}

/** `record`: also has what is read for it. */
type CompletedCall = { callId: string; record: JsonObject };

type Readings = {
	completed: CompletedCall[];
	/** An item for each call that couldn't be read, if *On Error* is set to continue. */
	failed: INodeExecutionData[];
};

/** Reads each call with the token, and leaves out those that the account doesn't have. */
async function readCalls(
	context: IExecuteFunctions,
	calls: readonly ReportedCall[],
	{ finished, filters, included }: CompletionSettings,
): Promise<Readings> {
	const { client } = await createAccountClient(context);
	const sleep = cancellableSleep(context);
	const read = async (call: ReportedCall): Promise<CompletedCall[]> => {
		const { callId } = call;
		const options = { report: comparedReport(call), finished, clock: { ...clock, sleep } };
		const record = await readCompletedCall(client, callId, options);
		if (record === undefined) addHints(context, unknownCall(callId));
		if (record === undefined || !isWanted(record, filters)) return [];
		const more = await readIncluded(client, callId, included).catch((error: unknown) => {
			throw notRead(callId, error);
		});
		return [{ callId, record: { ...record, ...more } }];
	};
	const tryToRead = async (call: ReportedCall, itemIndex: number): Promise<Readings> =>
		await read(call).then(
			(completed) => ({ completed, failed: [] }),
			(error: unknown) => {
				if (!context.continueOnFail()) throw error;
				const position = { itemIndex, of: calls.length };
				return { completed: [], failed: [toErrorItem(error, position)] };
			},
		);
	const parallel = pLimit(READS_AT_ONCE);
	const all = await Promise.all(
		calls.map(async (call, index) => await parallel(tryToRead, call, index)),
	);
	return {
		completed: all.flatMap(({ completed }) => completed),
		failed: all.flatMap(({ failed }) => failed),
	};
}

function unknownCall(callId: string): Explanation {
	return {
		message: `The account of this credential has no call ${quoted(callId)}, so it wasn't passed on`,
		resolution: onScreenOnly('If the call was placed with another credential, choose that one.'),
	};
}
