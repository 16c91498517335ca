import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { clock } from '../../nodes/shared/n8n/http/accountClient';
import { loader, runNode } from '../engine';
import { isObject } from '../engine/isObject';
import { isJsonObject } from '../../nodes/shared/json';
import { dialects } from '../simulator';
import { contractCases } from './cases';
import { perDialect, type ContractCase } from './contractCase';
import { simulatedNodes } from './simulatedNodes';

const { harness, simulator, nodeOf } = simulatedNodes();

/** Enough that a loop without a pause stands out, and little enough to be sent one by one. */
const ITEMS = 300;
/** A loop pauses after 100 items. Two pauses may end at the same moment. */
const MOST_ITEMS_A_TURN = 250;

/** Names of fields that take no expression. */
function chosenIn(form: unknown): string[] {
	if (Array.isArray(form)) return form.flatMap(chosenIn);
	if (!isJsonObject(form)) return [];
	const own = form.noDataExpression === true && typeof form.name === 'string' ? [form.name] : [];
	return [...own, ...Object.values(form).flatMap(chosenIn)];
}

/** Each value of a parameter as an expression, which n8n evaluates for each item. */
function byExpression(value: unknown, to: Written, chosen: Set<string>): unknown {
	if (typeof value === 'string')
		return to(/^=\{\{(.*)\}\}$/.exec(value)?.[1] ?? JSON.stringify(value));
	if (Array.isArray(value)) return value.map((inner) => byExpression(inner, to, chosen));
	if (!isJsonObject(value)) return to(JSON.stringify(value));
	return Object.fromEntries(
		Object.entries(value).map(([name, inner]) => [
			name,
			chosen.has(name) ? inner : byExpression(inner, to, chosen),
		]),
	);
}

const parametersIn = (value: unknown) => z.custom<INodeParameters>(isObject).parse(value);

/** Items that note when an expression reads them, and whether n8n's event loop has turned in between. */
function watchedItems(like: readonly object[]) {
	const read = new Set<number>();
	let limiter = new Set<number>();
	let most = 0;
	const items = [...Array(ITEMS).keys()].map((index): INodeExecutionData => {
		const json = { ...like[index % like.length] };
		// What copies an item does not see it.
		Object.defineProperty(json, 'read', {
			get: () => {
				read.add(index);
				limiter.add(index);
				most = Math.max(most, limiter.size);
				return 1;
			},
		});
		return { json };
	});
	let next: NodeJS.Immediate;
	const turn = (): void => {
		limiter = new Set();
		next = setImmediate(turn);
	};
	next = setImmediate(turn);
	return { items, seen: () => ({ read: read.size, most }), stop: () => clearImmediate(next) };
}

const sizeOf = (one?: ContractCase) =>
	one === undefined ? 0 : JSON.stringify(perDialect(one.parameters, dialects.plain)).length;

const cases = Object.entries(contractCases).flatMap(([node, all]) => {
	const operations = new Map<unknown, ContractCase>();
	for (const one of all) {
		const { operation } = perDialect(one.parameters, dialects.plain);
		// The one that says most.
		const isFuller = sizeOf(one) > sizeOf(operations.get(operation));
		if (one.rejection === undefined && isFuller) operations.set(operation, one);
	}
	return [...operations].map(([operation, one]) => ({ node, operation, one }));
});

/** Of lists, and of rows that go out together. */
const isOneReading = ({ node, operation }: { node: string; operation: unknown }) =>
	['agents', 'pushCampaignContacts'].includes(node) || /Many$/.test(String(operation));

const onError = 'continueRegularOutput' as const;

type Written = (code: string) => string;

let waits: jest.SpyInstance;
beforeEach(() => {
	waits = jest.spyOn(clock, 'sleep').mockImplementation(async () => {});
});
afterEach(() => waits.mockRestore());

const itself = (code: string) => `={{ [$json.read, ${code}][1] }}`;
const nothing = () => '={{ [$json.read][1] }}';

async function expectTurns(type: string, one: ContractCase, to: Written) {
	one.prepare?.(simulator());
	const chosen = new Set(['__rl', 'mode', ...chosenIn(loader.getNode(type).type.description)]);
	const given = perDialect(one.parameters, dialects.plain);
	const parameters = parametersIn(byExpression(given, to, chosen));
	const node = { ...(await nodeOf(type, parameters)), onError };
	const watched = watchedItems(one.items ?? [{}]);
	await runNode(harness.credentials, node, watched.items);
	watched.stop();
	const { read, most } = watched.seen();
	expect(read).toBe(ITEMS);
	expect(most).toBeLessThanOrEqual(MOST_ITEMS_A_TURN);
}

describe('n8n has its turn between the items', () => {
	test.each(cases)('if none of them can be sent: $node $operation', async ({ node, one }) => {
		await expectTurns(node, one, nothing);
	});

	test.each(cases.filter(isOneReading))(
		'if one reading is for all of them: $node $operation',
		async ({ node, one }) => {
			await expectTurns(node, one, itself);
		},
	);
});
