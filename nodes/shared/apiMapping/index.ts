import { MissingMapping } from '../api/errors';
import { onScreenOnly } from '../api/modelAdvice';
import { inWords } from '../values';
import {
	PROVIDER_SETTINGS,
	PROVIDER_SETTINGS_LABEL,
	type ProviderSettings,
	readProviderSettings,
} from './providerSettings';
import { type MappingName, type MappingTopic, placeOf } from './topics';

export type { MappingName } from './topics';

/**
 * What was said in the credential of what the service's document leaves open. A topic that the provider's block has is
 * answered by the block alone; any other by the fields of the form.
 */
export class ApiMapping {
	private block: ProviderSettings | undefined;

	constructor(private readonly credential: { [name: string]: unknown }) {}

	/** @throws InvalidInput for a block that cannot be used: nothing is taken from a part of it */
	optional(name: MappingName): string | undefined {
		return this.getValue(placeOf(name).topic, name);
	}

	/** @throws MissingMapping naming the field of the credential to fill in */
	required(name: MappingName): string {
		const value = this.optional(name);
		if (value === undefined) throw this.missing([name]);
		return value;
	}

	/** @throws MissingMapping naming at once every field that a request lacks */
	require(names: readonly MappingName[]): void {
		const lacking = names.filter((name) => this.optional(name) === undefined);
		if (lacking.length > 0) throw this.missing([...new Set(lacking)]);
	}

	/** Whether anything is said about a topic. */
	isSetUp(topic: MappingTopic): boolean {
		return Object.keys(topic.fields).some((name) => this.getValue(topic, name) !== undefined);
	}

	/** Where a person looks after what is said of these, which turned out to be wrong or is missing. */
	advice(...names: MappingName[]): string {
		const isSaid = names.some((name) => this.optional(name) !== undefined);
		return `In the credential, ${this.places(names, isSaid ? 'check' : 'fill in')}.`;
	}

	private getValue(topic: MappingTopic, name: string): string | undefined {
		const value = (this.fromProvider.get(topic) ?? this.credential)[name];
		return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
	}

	private get fromProvider(): ProviderSettings {
		const pasted = this.credential[PROVIDER_SETTINGS] ?? '';
		const text = typeof pasted === 'string' ? pasted : JSON.stringify(pasted);
		return (this.block ??= readProviderSettings(text));
	}

	private missing(names: readonly MappingName[]): MissingMapping {
		const fields = names.map((name) => placeOf(name).field);
		const sections = inWords([...new Set(fields.map(({ section }) => section))]);
		return new MissingMapping(
			`The credential does not say yet: ${inWords(fields.map(({ label }) => label))}`,
			onScreenOnly(
				`In the credential, ${this.places(names, 'fill in')}. Ask whoever provides your service; their document leaves it open under ${sections}.`,
			),
		);
	}

	/** Topic by topic, in the form or in the block. */
	private places(names: readonly MappingName[], verb: string): string {
		const topics = [...new Set(names.map((name) => placeOf(name).topic))];
		const places = topics.map((topic) => {
			const own = names.filter((name) => placeOf(name).topic === topic);
			return this.fromProvider.has(topic)
				? `${verb} ${inWords(own)} of “${topic.name}” in “${PROVIDER_SETTINGS_LABEL}”`
				: `turn on “${topic.switchLabel}” and ${verb} ${inWords(own.map((name) => placeOf(name).field.label))}`;
		});
		return places.join(', then ');
	}
}
