import cloneDeep from 'lodash/cloneDeep';
import get from 'lodash/get';
import isEqual from 'lodash/isEqual';
import omit from 'lodash/omit';
import set from 'lodash/set';
import uniqWith from 'lodash/uniqWith';
import type { INodeParameters } from 'n8n-workflow';
import nock from 'nock';
import { credentialFor } from '../../contract/credentialFor';
import { engineTool, makeWorkflow, nodeTypes, runNode, type EngineHarness } from '../../engine';
import { isJsonObject } from '../../../nodes/core/values/json';
import { TRIGGER_URL, type Scene } from '../../operations/operations';
import type { Simulator } from '../../simulator';
import { isShown, parametersWithPaths, type ParameterLocation } from './parameterPaths';
import { emptied } from './unusableValues';

/** Default values for groups of a fixed collection, of which one field is replaced. */
const GROUPS: { [group: string]: INodeParameters } = {
	dataExtraction: {
		points: [{ description: 'Which day?', key: 'day', outputFormat: 'weekday', required: true }],
	},
	additionalDataFields: { fields: [{ name: 'plan', value: 'gold' }] },
};

/** The result of a run: all requests, and the error message if the node stopped. */
type SceneResult = { sent: unknown[]; message: string | undefined };

/** The scene's parameters with one more value. */
export function withValue(
	parameters: INodeParameters,
	{ path, property, around }: ParameterLocation,
	value: unknown,
): INodeParameters {
	const changed = cloneDeep(parameters);
	const parents: string[] = [];
	for (const { name, type } of around) {
		parents.push(name);
		const path = parents.join('.');
		if (type === 'fixedCollection' && get(changed, path) === undefined) {
			set(changed, path, cloneDeep(GROUPS[name]));
		}
	}
	const isLocator = property.type === 'resourceLocator';
	set(changed, path, isLocator ? { __rl: true, mode: 'id', value } : value);
	return changed;
}

/** The parameters that the form of this node type shows with these values of the others. */
export function shownIn(
	harness: EngineHarness,
	type: string,
	parameters: INodeParameters,
): ParameterLocation[] {
	const { description } = nodeTypes.getByNameAndVersion(type);
	const node = harness.node('', { type, parameters });
	const filledIn = makeWorkflow([node]).getNode(node.name)?.parameters;
	return parametersWithPaths(description.properties).filter((place) => {
		const changed = withValue(parameters, place, emptied(place.property));
		return isShown(place, { ...node, parameters: { ...filledIn, ...changed } }, description);
	});
}

export async function runScene(
	harness: EngineHarness,
	simulator: Simulator,
	scene: Scene,
	parameters: INodeParameters,
): Promise<SceneResult> {
	simulator.reset();
	scene.prepare?.(simulator);
	const watched = trigger();
	const node = await harness.nodeWith(credentialFor(simulator), scene.node, { parameters });
	if (scene.isTool === true) {
		const result = await engineTool(node)();
		const isDone = result.outcome === 'done';
		const words = JSON.stringify([result.what_happened, result.next_step]);
		return { sent: sentTo(simulator, watched), message: isDone ? undefined : words };
	}
	const run = await runNode(node, scene.items ?? [{ json: {} }]);
	const { error } = run.data.resultData;
	const message = error && `${error.message} | ${error.description ?? ''}`;
	return { sent: sentTo(simulator, watched), message };
}

/** A Chat Events Trigger of another workflow. */
function trigger(): unknown[] {
	nock.cleanAll();
	const requests: unknown[] = [];
	const { origin, pathname } = new URL(TRIGGER_URL);
	nock(origin)
		.post(pathname)
		.optionally()
		.reply(200, function (_uri, body) {
			requests.push({ body, secret: this.req.headers['x-watch-secret'] });
			return { watched: true };
		});
	return requests;
}

/** The requests without repeated reads. If something was written, only the writes. */
export function essence(sent: unknown[]): unknown[] {
	const reads = sent.filter((one) => isJsonObject(one) && one.method === 'GET');
	const written = sent.filter((one) => !reads.includes(one));
	return written.length > 0 ? written : uniqWith(reads, isEqual);
}

const MADE_ID = /n8n-[0-9a-f-]{36}/;

function sentTo(simulator: Simulator, watched: unknown[]): unknown[] {
	const requests = simulator.requests.map(({ method, path, query, body }) => ({
		method,
		path,
		query: omit(query, 'token', 'client_id'),
		body,
	}));
	// The node creates a new message ID for each message.
	const frames = simulator.sessions.frames().map(({ text }) => text.replace(MADE_ID, 'n8n-made'));
	return [...requests, ...frames, ...watched];
}

/** Texts that no request may contain. */
const WRITTEN_NOTHING = /\[object \w+\]|^(NaN|undefined|null)$|^Invalid /;

/** The texts in requests that are an empty or invalid value, converted to text. */
export function writtenOutNothing(sent: unknown): string[] {
	if (typeof sent === 'string') return WRITTEN_NOTHING.test(sent) ? [sent] : [];
	if (typeof sent !== 'object' || sent === null) return [];
	return Object.entries(sent).flatMap(([name, value]) => [
		...writtenOutNothing(name),
		...writtenOutNothing(value),
	]);
}
