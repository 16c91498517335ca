import { MissingOpenDetail } from './explained';

/** A detail that the document leaves open, as the credential asks for it. */
export type OpenDetailField = {
	/** Label in the credential form. */
	label: string;
	description: string;
	placeholder: string;
};

/** The open details that the account's owner settled in the credential. */
export class OpenDetails {
	constructor(private readonly credential: { [name: string]: unknown }) {}

	/** @throws MissingOpenDetail naming the field of the credential to fill in */
	required(name: string, { label }: OpenDetailField): string {
		const value = this.optional(name);
		if (value !== undefined) return value;
		throw new MissingOpenDetail(
			`The credential does not say yet: ${label}`,
			`Open the credential, turn on Open Details and fill in “${label}”. Whoever provides your service knows the value.`,
		);
	}

	optional(name: string): string | undefined {
		const value = this.credential[name];
		return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
	}
}
