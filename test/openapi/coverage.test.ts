/** What the code must have for each part of docs/openapi.yaml and docs/asyncapi.yaml. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { CALL_RECORD_FIELDS } from '../../nodes/core/calls/callRecord';
import { ERRORS } from '../../nodes/core/service/errorTable';
import { PLACEHOLDERS, profileSchema } from '../../nodes/core/profile/schema';
import escapeRegExp from 'lodash/escapeRegExp';
import { ROOT } from '../engine/sourceLoader';
import { DOCUMENTED, WITHOUT_BODY } from './errors';
import { DOCUMENTED_NAMES, propertiesOf } from './names';
import { ENDPOINTS, NOT_SHOWN, OPENAPI, resolved, schemaNamed } from './openapi';

/** A name in a comment doesn't count. */
const COMMENTS = /\/\*.*?\*\/|(?<!:)\/\/[^\n]*/gs;
const code = globSync('{nodes,credentials}/**/*.ts', { cwd: ROOT })
	.map((file) => readFileSync(path.join(ROOT, file), 'utf8').replace(COMMENTS, ''))
	.join('\n');
const isInCode = (name: string) => new RegExp(`\\b${escapeRegExp(name)}\\b`).test(code);

/** Fields and values of responses that no node reads. They are passed through. */
const PASSED_THROUGH = [
	'account_id',
	'active_human',
	'attach_number',
	'bad_json',
	'bad_payload',
	'color_code',
	'current_state',
	'idle_seconds',
	'is_retry_enabled',
	'message_required',
	'per_page',
	'retry_delay',
	'retry_threshold',
	'started_at',
	'tell_not_allowed_during_takeover',
	'tool_calls',
	'tool_results',
	'welcome_message',
];

/** Errors with any text. */
const GENERAL = ['AnyError', 'ErrorBody', 'ErrorList'];

test('the code uses each documented field, state, event, and code', () => {
	const names = [...DOCUMENTED_NAMES].filter((name) => /^[A-Za-z]+(_[A-Za-z]+)+$/.test(name));
	expect(names.length).toBeGreaterThan(90);
	expect(names.filter((name) => !isInCode(name)).sort()).toEqual(PASSED_THROUGH);
});

test('the tests of every response include each error', () => {
	expect([...WITHOUT_BODY].sort()).toEqual(GENERAL);
});

test('the fields of the call record', () => {
	const documented = Object.keys(propertiesOf(schemaNamed('CallRecord')));
	expect([...CALL_RECORD_FIELDS].sort()).toEqual(documented.sort());
});

test('a profile may have exactly what the contract lists as not shown', () => {
	const placeholders = new Map(
		Object.entries(PLACEHOLDERS).map(([name, { must, may }]) => [name, [...must, ...may]]),
	);
	const parts = Object.entries(profileSchema.shape).map(([name, part]) => [
		name,
		[...entriesOf(part), ...(placeholders.get(name) ?? []).map((one) => `{${one}}`)].sort(),
	]);
	expect(parts).toHaveLength(8);
	expect(Object.fromEntries(listedIn(OPENAPI))).toEqual(Object.fromEntries(parts));
});

/** The names that a schema allows. */
function entriesOf(schema: unknown): string[] {
	const inner: unknown = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
	if (inner instanceof z.ZodEffects) return entriesOf(inner.innerType());
	return inner instanceof z.ZodObject ? Object.keys(resolved(inner.shape)) : [];
}

/** The parts in the marks of the contract, each with its list. */
function listedIn(value: unknown): Array<[string, unknown]> {
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([name, inner]) => {
		if (name !== NOT_SHOWN || typeof inner === 'string') return listedIn(inner);
		return Object.entries(resolved(inner)).map(([part, list]): [string, unknown] => [
			part,
			Array.isArray(list) ? list.map(String).sort() : list,
		]);
	});
}

describe('the error table', () => {
	/** Statuses without a row. */
	const WITHOUT_ROW = [
		// It means success.
		'200',
		// The outcome is unknown, and response.ts explains it for every endpoint.
		'500',
		// A text of the service, which every rejection without its own row shows.
		'422',
		// Each of the bodies has a row without a status.
		'default',
	];
	const statuses = ENDPOINTS.flatMap(({ name, responses }) =>
		Object.keys(responses)
			.filter((status) => !WITHOUT_ROW.includes(status))
			.map((status) => ({ name, status })),
	);
	const isOfAll = (status: string) =>
		statuses.filter((other) => other.status === status).length === ENDPOINTS.length;

	/** A status that not every endpoint has needs a row for the endpoint, or a documented error. */
	const hasRow = (name: string, status: string) =>
		DOCUMENTED.some(
			([, raisedBy, , own = []]) => raisedBy.includes(name) && own.includes(Number(status)),
		) ||
		ERRORS.some(({ at, statuses: limits = [] }) => {
			if (!limits.includes(Number(status))) return false;
			return isOfAll(status) || at?.test(name) !== false;
		});

	test('has a row for each status', () => {
		expect(statuses.length).toBeGreaterThan(ENDPOINTS.length);
		expect(statuses.filter(({ name, status }) => !hasRow(name, status))).toEqual([]);
	});
});
