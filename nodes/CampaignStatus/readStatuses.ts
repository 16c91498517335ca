import { READS_AT_ONCE } from '../shared/api/limits';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { getCampaignStatus } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { InvalidInput, OutcomeUnknown } from '../shared/api/errors';
import { forEveryone, onScreenOnly } from '../shared/api/modelAdvice';
import type { Clock } from '../shared/clock';
import { parseCampaignId, parseContactListId, parseCount } from '../shared/api/parseIds';
import type { JsonObject } from '../shared/json';
import { NOT_READ_FIELD } from '../shared/notRead';
import { type CampaignView, simplifyCampaign, viewCampaign } from '../shared/campaign';
import { cancellableSleep } from '../shared/n8n/run/cancel';
import { clock } from '../shared/n8n/http/accountClient';
import { type Fields, MAY_BE_BLANK } from '../shared/n8n/forms/fields';
import { asItems, forEachItem } from '../shared/n8n/run/itemLoop';
import type { OperationRun } from '../shared/n8n/run/operations';
import { readAdditions, readConcurrency } from '../shared/n8n/forms/options';
import { readOutput, sized } from '../shared/n8n/forms/outputFields';
import { runsAsTool } from '../shared/n8n/tools/toolRun';
import { capInTools } from '../shared/n8n/tools/toolDeadline';
import { type WaitSettings, waitUntilCompleted } from './campaignWait';

/** Another item has stopped the run, so this one need not wait any longer. */
class Abandoned extends Error {
	override readonly name = 'Abandoned';
}

/** One item a campaign: as it stands, or as it stands when the wait is over. */
export async function readStatuses({
	context,
	parameters,
	connection,
}: OperationRun): Promise<INodeExecutionData[]> {
	const waitingClock = { ...clock, sleep: cancellableSleep(context) };
	const atOnce = readConcurrency(parameters, READS_AT_ONCE);
	const limit = pLimit(atOnce);
	let stopped = false;

	const statusOf = async (index: number): Promise<INodeExecutionData[]> => {
		const { client } = await connection();
		const form = parameters.at(index);
		const campaignId = parseCampaignId(form.textOrNumber('campaignId', MAY_BE_BLANK));
		const output = readOutput(form);
		const wait = inToolsTime(context, readWait(form));
		const additions = readAdditions(form.collection('options'));
		const read = async () => {
			if (stopped) throw new Abandoned();
			const answer = await getCampaignStatus(client, campaignId, additions);
			return viewCampaign(recordOf(answer));
		};
		const { view, told } = await statusWithin(async () => await limit(read), wait, waitingClock);
		const sizes = { raw: view.record, simplified: simplifyCampaign(view) };
		return asItems({ ...sized(output, sizes), ...told });
	};
	const task = async (index: number) =>
		await statusOf(index).catch((error: unknown) => {
			if (error instanceof Abandoned) return [];
			stopped = !context.continueOnFail();
			throw error;
		});
	// Items that wait do so side by side; only their reads are held back.
	const { length: items } = context.getInputData();
	const concurrency = mayWait(parameters.at(0)) ? Math.max(1, items) : atOnce;
	return await forEachItem(context, task, { concurrency });
}

const SHORTEST_INTERVAL_S = 5;

export type Wait = WaitSettings & { stopAtLimit: boolean };

/** Whether some item may wait: an expression can differ from item to item. */
function mayWait(form: Fields): boolean {
	return form.expression('waitUntilCompleted') !== '' || form.switch('waitUntilCompleted', false);
}

/** How to wait for one item; `undefined` where it is read once. */
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

/** A model is told how things stand, and may ask again. */
function inToolsTime(context: IExecuteFunctions, wait: Wait | undefined): Wait | undefined {
	if (wait === undefined || !runsAsTool(context)) return wait;
	return {
		...wait,
		limitMs: capInTools(context, wait.limitMs),
		stopAtLimit: false,
		forModel: true,
	};
}

function interval(value: unknown): number {
	const resolution = forEveryone(
		`Enter the seconds between two looks at the campaign, at least ${SHORTEST_INTERVAL_S}.`,
	);
	const seconds = parseCount(value, 'Check Every', resolution);
	if (seconds >= SHORTEST_INTERVAL_S) return seconds;
	throw new InvalidInput(`Check Every is ${seconds} seconds, which is too short`, resolution);
}

function limit(value: unknown): number {
	return parseCount(
		value,
		'Time Limit',
		forEveryone('Enter the minutes after which the wait ends.'),
	);
}

/**
 * Reads once, or waits with one short read an interval. n8n can put an execution to sleep in its
 * database, but wakes it without running the node again, so that nothing would look whether the
 * campaign is done.
 */
export async function statusWithin(
	read: () => Promise<CampaignView>,
	wait: Wait | undefined,
	clock: Clock,
): Promise<{ view: CampaignView; told: JsonObject }> {
	if (wait === undefined) return { view: await read(), told: {} };
	const { view, end, notRead } = await waitUntilCompleted(read, wait, clock);
	if (end.outcome === 'timed_out' && wait.stopAtLimit) {
		throw new OutcomeUnknown(
			'The campaign was not completed within the time limit',
			onScreenOnly(
				[
					end.note,
					notRead,
					'It goes on by itself; run this item again to wait longer, or raise Time Limit.',
				]
					.filter((text) => text !== undefined)
					.join(' '),
			),
		);
	}
	const told = { wait_outcome: end.outcome, wait_note: end.note };
	if (notRead === undefined) return { view, told };
	return { view, told: { ...told, [NOT_READ_FIELD]: notRead } };
}
