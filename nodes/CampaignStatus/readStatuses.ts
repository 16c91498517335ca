import { READS_AT_ONCE } from '../shared/api/limits';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { getCampaignStatus } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { InvalidInput, OutcomeUnknown } from '../shared/api/errors';
import { adviceForModel } from '../shared/api/modelAdvice';
import type { Clock } from '../shared/clock';
import { parseCampaignId, parseContactListId, parseCount } from '../shared/api/identifiers';
import type { JsonObject } from '../shared/json';
import { isUnset } from '../shared/values';
import { type CampaignView, simplifyCampaign, viewCampaign } from '../shared/campaign';
import { cancellableSleep } from '../shared/n8n/cancel';
import { clock, connectOnce } from '../shared/n8n/connect';
import { asItems, forEachItem } from '../shared/n8n/itemLoop';
import { readAdditions, readConcurrency } from '../shared/n8n/options';
import { readOutput, sized } from '../shared/n8n/outputFields';
import { runsAsTool } from '../shared/n8n/toolRun';
import { limitedInTools } from '../shared/n8n/toolTime';
import { NodeParameters } from '../shared/n8n/nodeParameters';
import { type WaitSettings, waitUntilCompleted } from './campaignWait';

/** Another item has stopped the run, so this one need not wait any longer. */
class Abandoned extends Error {
	override readonly name = 'Abandoned';
}

/** One item a campaign: as it stands, or as it stands when the wait is over. */
export async function readStatuses(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const parameters = new NodeParameters(context);
	const connection = connectOnce(context);
	const waitingClock = { ...clock, sleep: cancellableSleep(context) };
	const atOnce = readConcurrency(parameters, READS_AT_ONCE);
	const limit = pLimit(atOnce);
	let stopped = false;

	const statusOf = async (index: number): Promise<INodeExecutionData[]> => {
		const { client } = await connection();
		const campaignId = parseCampaignId(parameters.value('campaignId', index));
		const output = readOutput(parameters, index);
		const wait = inToolsTime(context, readWait(parameters, index));
		const additions = readAdditions(parameters.record('options', index));
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
	const waiting = (context.getNode().parameters.waitUntilCompleted ?? false) !== false;
	const concurrency = waiting ? Math.max(1, context.getInputData().length) : atOnce;
	return await forEachItem(context, task, { concurrency });
}

const SHORTEST_INTERVAL_S = 5;

export type Wait = WaitSettings & { stopAtLimit: boolean; forModel?: boolean };

/** How to wait for one item; `undefined` where it is read once. */
export function readWait(parameters: NodeParameters, index: number): Wait | undefined {
	if (!parameters.boolean('waitUntilCompleted', index)) return undefined;
	const listId = parameters.value('campaignUploadId', index);
	return {
		intervalMs: 1000 * interval(parameters.value('waitInterval', index)),
		limitMs: 60_000 * limit(parameters.value('waitLimit', index)),
		contactListId: isUnset(listId) ? undefined : parseContactListId(listId),
		waitWhileStopped: parameters.record('options', index).waitWhileStopped === true,
		stopAtLimit: parameters.value('onTimeLimit', index) === 'stop',
	};
}

/** A model is told how things stand, and may ask again. */
function inToolsTime(context: IExecuteFunctions, wait: Wait | undefined): Wait | undefined {
	if (wait === undefined || !runsAsTool(context)) return wait;
	return {
		...wait,
		limitMs: limitedInTools(context, wait.limitMs),
		stopAtLimit: false,
		forModel: true,
	};
}

function interval(value: unknown): number {
	const resolution = `Enter the seconds between two looks at the campaign, at least ${SHORTEST_INTERVAL_S}.`;
	const seconds = parseCount(value, 'Check Every', resolution);
	if (seconds >= SHORTEST_INTERVAL_S) return seconds;
	throw new InvalidInput(`Check Every is ${seconds} seconds, which is too short`, resolution);
}

function limit(value: unknown): number {
	return parseCount(value, 'Time Limit', 'Enter the minutes after which the wait ends.');
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
	const { view, end } = await waitUntilCompleted(read, wait, clock);
	if (end.outcome === 'timed_out' && wait.stopAtLimit) {
		throw new OutcomeUnknown(
			'The campaign was not completed within the time limit',
			`${end.note} It goes on by itself; run this item again to wait longer, or raise Time Limit.`,
		);
	}
	const note = wait.forModel ? adviceForModel(end.note) : end.note;
	return { view, told: { wait_outcome: end.outcome, wait_note: note } };
}
