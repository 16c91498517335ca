import { READS_AT_ONCE } from '../shared/api/limits';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { InvalidInput, OutcomeUnknown } from '../shared/api/errors';
import { forEveryone, onScreenOnly } from '../shared/api/resolution';
import type { Clock } from '../shared/clock';
import { parseCampaignId, parseContactListId, parseCount } from '../shared/api/parseIds';
import type { JsonObject } from '../shared/json';
import { NOT_READ_FIELD } from '../shared/notRead';
import { type CampaignView, readCampaign, simplifyCampaign } from '../shared/campaign';
import { cancellableSleep } from '../shared/n8n/run/cancel';
import { clock } from '../shared/n8n/http/accountClient';
import { type Fields, MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { asItems, forEachItem } from '../shared/n8n/run/itemLoop';
import type { OperationRun } from '../shared/n8n/run/operations';
import { readAdditions, readConcurrency } from '../shared/n8n/forms/options';
import { readOutput, sized } from '../shared/n8n/forms/outputFields';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { capInTools } from '../shared/n8n/tools/toolDeadline';
import { CampaignReads } from './campaignReads';
import { type WaitSettings, waitUntilCompleted } from './campaignWait';

/** Another item stopped the run, so this one doesn't wait any longer. */
class RunStopped extends Error {
	override readonly name = 'RunStopped';
}

/** Reads each item's campaign, after the wait if there is one. */
export async function readStatuses({
	context,
	parameters,
	account,
}: OperationRun): Promise<INodeExecutionData[]> {
	const waitingClock = { ...clock, sleep: cancellableSleep(context) };
	const concurrentReads = readConcurrency(parameters, READS_AT_ONCE);
	const limit = pLimit(concurrentReads);
	const reads = new CampaignReads(clock);
	let stopped = false;

	const statusOf = async (index: number): Promise<INodeExecutionData[]> => {
		const { client } = await account();
		const form = parameters.at(index);
		const campaignId = parseCampaignId(form.textOrNumber('campaignId', MAY_BE_BLANK));
		const output = readOutput(form);
		const wait = inToolsTime(context, readWait(form));
		const additions = readAdditions(form.collection('developerSettings'));
		const send = async () => {
			if (stopped) throw new RunStopped();
			return await readCampaign(client, campaignId, additions);
		};
		const request = { campaignId, additions, isWaiting: wait !== undefined };
		const read = async () => await reads.read(request, async () => await limit(send));
		const { view, waitFields } = await statusWithin(read, wait, waitingClock);
		const sizes = { raw: view.record, simplified: simplifyCampaign(view) };
		// Items share the response, and a node that changes one item in place must not change the others.
		return asItems(structuredClone({ ...sized(output, sizes), ...waitFields }));
	};
	const task = async (index: number) =>
		await statusOf(index).catch((error: unknown) => {
			if (error instanceof RunStopped) return [];
			stopped = !context.continueOnFail();
			throw error;
		});
	// All items wait at the same time. Only their reads are limited.
	const { length: items } = context.getInputData();
	const concurrency = mayWait(parameters.at(0)) ? Math.max(1, items) : concurrentReads;
	return await forEachItem(context, task, { concurrency });
}

const MIN_INTERVAL_S = 5;

export type Wait = WaitSettings & { stopAtLimit: boolean };

/** Whether any item may wait. An expression can differ between items. */
function mayWait(form: Fields): boolean {
	return form.expression('waitUntilCompleted') !== '' || form.switch('waitUntilCompleted', false);
}

/** How to wait for one item; `undefined` to read it once. */
export function readWait(form: Fields): Wait | undefined {
	const waitWhileStopped = form.collection('options').switch('waitWhileStopped', false);
	if (!form.switch('waitUntilCompleted', false)) return undefined;
	const listId = form.textOrNumber('campaignUploadId');
	return {
		intervalMs: 1000 * interval(form.number('waitInterval', undefined)),
		limitMs: 60_000 * limit(form.number('waitLimit', undefined)),
		contactListId: listId === undefined ? undefined : parseContactListId(listId),
		waitWhileStopped,
		stopAtLimit: form.choice('onTimeLimit', 'return') === 'stop',
	};
}

/** As a tool, the wait is short and returns the current status. The model may repeat the request. */
function inToolsTime(context: IExecuteFunctions, wait: Wait | undefined): Wait | undefined {
	if (wait === undefined || !runsAsTool(context)) return wait;
	return {
		...wait,
		limitMs: capInTools(context, wait.limitMs),
		stopAtLimit: false,
		isTool: true,
	};
}

function interval(value: unknown): number {
	const resolution = forEveryone(
		`Enter the number of seconds between checks, at least ${MIN_INTERVAL_S}.`,
	);
	const seconds = parseCount(value, 'Check Every (Seconds)', resolution);
	if (seconds >= MIN_INTERVAL_S) return seconds;
	throw new InvalidInput(
		`'Check Every (Seconds)' must be at least ${MIN_INTERVAL_S} (got ${seconds})`,
		resolution,
	);
}

function limit(value: unknown): number {
	return parseCount(
		value,
		'Time Limit (Minutes)',
		forEveryone('Enter the number of minutes after which the wait ends.'),
	);
}

/**
 * Reads the campaign once, or waits and reads it at intervals. n8n's own waiting executions don't help here: n8n resumes
 * them without running the node again, so nothing would check the campaign.
 */
export async function statusWithin(
	read: () => Promise<CampaignView>,
	wait: Wait | undefined,
	clock: Clock,
): Promise<{ view: CampaignView; waitFields: JsonObject }> {
	if (wait === undefined) return { view: await read(), waitFields: {} };
	const { view, end, notRead } = await waitUntilCompleted(read, wait, clock);
	if (end.outcome === 'timed_out' && wait.stopAtLimit) {
		throw new OutcomeUnknown(
			"The campaign wasn't completed within the time limit",
			onScreenOnly(
				[
					end.note,
					notRead,
					"The campaign continues. To wait longer, execute the node again or raise 'Time Limit (Minutes)'.",
				]
					.filter((text) => text !== undefined)
					.join(' '),
			),
		);
	}
	const waitFields = { wait_outcome: end.outcome, wait_note: end.note };
	if (notRead === undefined) return { view, waitFields };
	return { view, waitFields: { ...waitFields, [NOT_READ_FIELD]: notRead } };
}
