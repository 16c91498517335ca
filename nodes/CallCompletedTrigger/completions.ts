import compact from 'lodash/compact';
import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { readEach } from '../core/service/limits';
import { comparedReport, isWanted, outcomeKey } from '../core/calls/callEnd';
import { readIncluded } from '../core/calls/readCall';
import {
	MAX_CALLS_PER_REPORT,
	type ReportedCall,
	readReport,
} from '../core/calls/completionWebhook';
import { isJsonObject, type JsonObject } from '../core/values/json';
import {
	callsAgainNotice,
	completionFilters,
	type CompletionSettings,
	finishedStatuses,
	readCompletionSettings,
} from '../host/forms/callTriggerFields';
import { callOutput, callOutputFields, includeField } from '../host/forms/outputFields';
import { NodeParameters } from '../host/forms/nodeParameters';
import { type AccountClient, createAccountClient } from '../host/http/accountClient';
import { clock } from '../host/clock';
import { callerOf, type CallerRun } from '../host/caller/caller';
import { cancellableSleep } from '../host/execution/cancel';
import { itemsGiven } from '../host/run/executeOnce';
import { asItems } from '../host/run/itemLoop';
import { toErrorItem, toNodeError } from '../host/http/nodeErrors';
import { newEvents, readBody, reject } from '../host/triggers/webhookRequest';
import { notRead, readCompletedCall } from './readCompletedCall';
import { addHintsForPerson } from '../host/execution/runResult';
import { quoted } from '../core/values/values';

/** The form, from top to bottom. */
export const completionFields: INodeProperties[] = [
	{
		displayName:
			'Copy <b>Production URL</b> in <b>Webhook URLs</b> above to <b>Webhook URL</b> of Place Call. For campaigns, use <b>Campaign Calls Trigger</b>.',
		name: 'webhookUrlNotice',
		type: 'notice',
		default: '',
	},
	includeField,
	completionFilters,
	...callOutputFields,
	callsAgainNotice,
];

/** Starts an execution with an item for each call that the request reports. */
export async function receiveReport(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		const body = await readBody(context);
		const calls = readReport(body ?? null);
		if (calls.length > MAX_CALLS_PER_REPORT) {
			return reject(context, 400, `The body has more than ${MAX_CALLS_PER_REPORT} calls.`);
		}
		if (calls.length === 0) return reject(context, 400, 'The body has no call_id.');
		// Only what is read or compared, because n8n stores it with the execution, and the report may be forged.
		const reported = calls.map((call) => ({ call_id: call.callId, ...comparedReport(call) }));
		return { workflowData: [asItems(reported)] };
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/** Passes on the reported calls that have ended, match the filters, and weren't passed on before. */
export async function passCompleted(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	try {
		const run = { context, caller: callerOf(context) };
		const settings = readCompletionSettings(new NodeParameters(run, completionFields).at(0));
		const reports = itemsGiven(context).map(({ json }) => json);
		const calls = reports.filter(isJsonObject).flatMap(readReport);
		const account = await createAccountClient(context);
		/** By the index of a call, an item if it couldn't be read and *On Error* is set to continue. */
		const failed: INodeExecutionData[] = [];
		const readings = await readEach(calls, async (call, itemIndex) => {
			const reading = readWanted(run, account, call, settings);
			return await reading.catch((error: unknown) => {
				if (!context.continueOnFail()) throw error;
				failed[itemIndex] = toErrorItem(error, { itemIndex, of: calls.length });
				return undefined;
			});
		});
		const completed = compact(readings);
		const byKey = new Map(completed.map((call) => [outcomeKey(call.callId, call.record), call]));
		const isNew = await newEvents(run, [...byKey.keys()]);
		const passed = [...byKey].filter(([key]) => isNew.has(key));
		const outputs = passed.map(([, { record, included }]) =>
			callOutput(settings.output, record, included, account.optOutKey),
		);
		return [[...asItems(outputs), ...compact(failed)]];
	} catch (error) {
		// Otherwise, n8n passes the reports on as they came.
		if (context.continueOnFail()) return [[toErrorItem(error, { itemIndex: 0, of: 1 })]];
		throw toNodeError(context.getNode(), error);
	}
}

/** Reads a call with the token, and what is included. Undefined if the account doesn't have it, or it isn't wanted. */
async function readWanted(
	run: CallerRun,
	account: AccountClient,
	call: ReportedCall,
	settings: CompletionSettings,
): Promise<{ callId: string; record: JsonObject; included: JsonObject } | undefined> {
	const { client, optOutKey } = account;
	const { callId } = call;
	const record = await readCompletedCall(client, callId, {
		report: comparedReport(call),
		finished: finishedStatuses(account, settings),
		clock: { ...clock, sleep: cancellableSleep(run) },
	});
	if (record === undefined) {
		addHintsForPerson(run.context, {
			message: `The account of this credential has no call ${quoted(callId)}, so it wasn't passed on`,
			resolution: 'In n8n, if the call was placed with another credential, choose that one.',
		});
	}
	if (record === undefined || !isWanted(record, settings.filters, optOutKey)) return undefined;
	const reading = readIncluded(client, callId, settings.included);
	const included = await reading.catch((error: unknown) => {
		throw notRead(callId, error);
	});
	return { callId, record, included };
}
