import map from 'lodash/map';
import { InvalidInput } from '../service/errors';
import { onScreenOnly } from '../service/resolution';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../values/json';
import { withoutInvisible } from '../values/text';
import { joinedWithAnd, named, quoted } from '../values/values';
import type { MappingField, MappingTopic } from './field';
import { MAPPING_TOPICS } from './topics';

/** The switch of the credential that shows the API mapping. While it's off, n8n saves none of it. */
export const PROVIDER_SENT_SETTINGS = 'providerSentSettings';
export const PROVIDER_SENT_SETTINGS_LABEL = 'My Provider Sent Settings';

/** The field of the credential for the provider's block. */
export const PROVIDER_SETTINGS = 'providerSettings';
export const PROVIDER_SETTINGS_LABEL = 'Settings From Your Provider';

/** The values of each topic in the block. */
export type ProviderSettings = ReadonlyMap<MappingTopic, JsonObject>;

/**
 * Reads the block of settings from a provider. Each topic in it must be complete, with `null` for values that the
 * service doesn't have.
 *
 * @throws InvalidInput that lists everything to correct
 */
export function readProviderSettings(text: string): ProviderSettings {
	if (text.trim() === '') return new Map();
	const written = withPlainSpace(withoutInvisible(text));
	const block = parseJson(written);
	if (!isJsonObject(block)) throw noBlock();
	const faults = [
		...unknownIn(block, map(MAPPING_TOPICS, 'name'), 'the block'),
		...MAPPING_TOPICS.flatMap((topic) => {
			const settings = ownIn(block, topic.name);
			return settings === undefined ? [] : faultsIn(topic, settings);
		}),
	];
	if (faults.length > 0) throw faulty(faults);
	return new Map(
		MAPPING_TOPICS.flatMap((topic) => {
			const settings = ownIn(block, topic.name);
			return isJsonObject(settings) ? [[topic, settings] as const] : [];
		}),
	);
}

/** Replaces white space that JSON doesn't allow, such as non-breaking spaces from email. */
function withPlainSpace(text: string): string {
	// A string without a closing quote extends to the end of the text, so the search stays linear.
	return text.replace(/"[^"\\]*(?:\\[^][^"\\]*)*"?|\s/g, (part) => (/^\s/.test(part) ? ' ' : part));
}

function faultsIn({ name, fields }: MappingTopic, settings: JsonValue): string[] {
	if (!isJsonObject(settings)) return [`"${name}" must be an object in curly brackets`];
	const missing = Object.keys(fields).filter((field) => ownIn(settings, field) === undefined);
	return [
		...unknownIn(settings, Object.keys(fields), `"${name}"`),
		...(missing.length > 0
			? [`"${name}" lacks ${joinedWithAnd(missing.map((one) => `"${one}"`))}`]
			: []),
		...Object.entries(fields).flatMap(([field, definition]) => {
			const value = ownIn(settings, field);
			const fault = value === undefined ? undefined : faultOf(value, definition);
			return fault === undefined ? [] : [`"${field}" in "${name}" ${fault}`];
		}),
	];
}

/** A predicate for a message about an invalid value, such as `must be "body" or "query"`. */
function faultOf(
	value: JsonValue,
	{ choices, optional = false }: MappingField,
): string | undefined {
	if (value === null && optional) return undefined;
	const orNull = optional ? ', or null' : '';
	if (choices !== undefined) {
		const values = choices.map((choice) => choice.value);
		if (values.some((one) => one === value)) return undefined;
		return `must be ${values.map((one) => JSON.stringify(one)).join(' or ')}${orNull}`;
	}
	if (typeof value !== 'string') return `must be text in quotation marks${orNull}`;
	if (value.trim() === '') return optional ? 'is empty (write null if there is none)' : 'is empty';
	return NULL_AS_TEXT.test(value) ? 'must be null without quotation marks' : undefined;
}

/** What people write for a value that the service doesn't have. */
const NULL_AS_TEXT = /^\s*(?:null|none|n\/a|-)\s*$/i;

/** Names to list in a message. */
const MAX_NAMES = 10;

function unknownIn(settings: JsonObject, known: string[], owner: string): string[] {
	const unknown = Object.keys(settings).filter((name) => !known.includes(name));
	return unknown.length > 0
		? [`${owner} has unknown names: ${named(unknown, quoted, MAX_NAMES)}`]
		: [];
}

function ownIn(settings: JsonObject, name: string): JsonValue | undefined {
	return Object.hasOwn(settings, name) ? settings[name] : undefined;
}

function noBlock(): InvalidInput {
	return new InvalidInput(
		`'${PROVIDER_SETTINGS_LABEL}' in the credential isn't a valid block of settings`,
		onScreenOnly(
			'Paste only the block that your service provider sent, from the first curly bracket to the last. It needs straight quotation marks ("), and no comma before a closing bracket.',
		),
	);
}

function faulty(faults: string[]): InvalidInput {
	return new InvalidInput(
		`'${PROVIDER_SETTINGS_LABEL}' in the credential has invalid values`,
		onScreenOnly(`Correct them, or send this list to your provider: ${faults.join('; ')}.`),
	);
}
