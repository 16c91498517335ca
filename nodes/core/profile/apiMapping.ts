import { InvalidInput } from '../service/errors';
import { onScreenOnly } from '../service/resolution';
import { withoutInvisible } from '../values/text';
import { joinedWithAnd } from '../values/values';
import {
	PROVIDER_SENT_SETTINGS_LABEL,
	PROVIDER_SETTINGS,
	PROVIDER_SETTINGS_LABEL,
	type ProviderSettings,
	readProviderSettings,
} from './providerSettings';
import type { MappingTopic } from './field';
import { type MappingName, fieldOf } from './topics';

export type { MappingName } from './topics';

/**
 * The API mapping of a credential: details that the service's document doesn't specify. For each topic, the
 * provider's block replaces the fields of the form.
 */
export class ApiMapping {
	private block: ProviderSettings | undefined;

	constructor(private readonly credential: { [name: string]: unknown }) {}

	/** @throws InvalidInput if the provider's block is invalid, even if the value isn't in it */
	optional(name: MappingName): string | undefined {
		return this.getValue(fieldOf(name).topic, name);
	}

	/** @throws InvalidInput that says how to get the value, with the field of the credential */
	required(name: MappingName): string {
		const value = this.optional(name);
		if (value === undefined) throw this.missing([name]);
		return value;
	}

	/** @throws InvalidInput that says how to get all missing values */
	require(names: readonly MappingName[]): void {
		const missing = names.filter((name) => this.optional(name) === undefined);
		if (missing.length > 0) throw this.missing([...new Set(missing)]);
	}

	/** Whether the credential has a value of this topic. */
	isSetUp(topic: MappingTopic): boolean {
		return Object.keys(topic.fields).some((name) => this.getValue(topic, name) !== undefined);
	}

	/** Whether the form shows the fields of this topic. */
	isShown(topic: MappingTopic): boolean {
		return this.credential[topic.switchName] === true;
	}

	/** What to do if one of these values is wrong or missing. */
	resolution(...names: MappingName[]): string {
		const isSet = names.some((name) => this.optional(name) !== undefined);
		const isInForm = topicsOf(names).some((topic) => !this.fromProvider.has(topic));
		const first = isInForm ? `turn on '${PROVIDER_SENT_SETTINGS_LABEL}', then ` : '';
		return `In the credential, ${first}${this.instructions(names, isSet ? 'check' : 'fill in')}.`;
	}

	/** What to do if the service seems to ignore a query parameter. */
	ignoredParameter(name: MappingName): string {
		return `${this.resolution(name)} The service probably doesn't know this parameter.`;
	}

	private getValue(topic: MappingTopic, name: string): string | undefined {
		const value = (this.fromProvider.get(topic) ?? this.credential)[name];
		const written = typeof value === 'string' ? withoutInvisible(value).trim() : '';
		return written === '' ? undefined : written;
	}

	private get fromProvider(): ProviderSettings {
		const pasted = this.credential[PROVIDER_SETTINGS] ?? '';
		const text = typeof pasted === 'string' ? pasted : JSON.stringify(pasted);
		return (this.block ??= readProviderSettings(text));
	}

	private missing(names: readonly MappingName[]): InvalidInput {
		const topics = topicsOf(names);
		const isInForm = topics.some((topic) => !this.fromProvider.has(topic));
		const instructions = this.instructions(names, 'fill in');
		return new InvalidInput(
			`The credential lacks settings for ${joinedWithAnd(topics.map(({ subject }) => subject))}`,
			onScreenOnly(
				isInForm
					? `Send your service provider the questionnaire that is linked in the credential. Then turn on '${PROVIDER_SENT_SETTINGS_LABEL}' there and paste the reply into '${PROVIDER_SETTINGS_LABEL}'. Or ${instructions}.`
					: `In the credential, ${instructions}. Ask your service provider for the values.`,
			),
		);
	}

	/** By topic, for the form or the provider's block. */
	private instructions(names: readonly MappingName[], verb: string): string {
		const instructions = topicsOf(names).map((topic) => {
			const own = names.filter((name) => fieldOf(name).topic === topic);
			return this.fromProvider.has(topic)
				? `${verb} ${joinedWithAnd(own.map((name) => `"${name}"`))} of "${topic.name}" in '${PROVIDER_SETTINGS_LABEL}'`
				: `turn on '${topic.switchLabel}' and ${verb} ${joinedWithAnd(own.map((name) => `'${fieldOf(name).field.label}'`))}`;
		});
		return instructions.join(', then ');
	}
}

function topicsOf(names: readonly MappingName[]): MappingTopic[] {
	return [...new Set(names.map((name) => fieldOf(name).topic))];
}
