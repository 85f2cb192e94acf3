// The passkeys of people: the public halves of keys that stay in their devices.

import { and, asc, eq, sql } from "drizzle-orm";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { passkeys, people } from "../tables/people-schema.ts";

export type PasskeyRow = typeof passkeys.$inferSelect;

export class PasskeyStore {
  constructor(readonly database: Database) {}

  /** The passkeys of a person, oldest first. */
  async list(person: string): Promise<PasskeyRow[]> {
    return await this.database.db
      .select()
      .from(passkeys)
      .where(eq(passkeys.person, person))
      .orderBy(asc(passkeys.createdAt));
  }

  async findByCredential(credential: string): Promise<PasskeyRow | null> {
    const [row] = await this.database.db
      .select()
      .from(passkeys)
      .where(eq(passkeys.credential, credential));
    return row ?? null;
  }

  /**
   * Adds a passkey. "known" if a person has it, "full" if the person has the most passkeys already.
   * `also` runs in the transaction, and can undo it.
   */
  async add(
    row: PasskeyRow,
    { most, also }: { readonly most: number; readonly also: (tx: Transaction) => Promise<void> },
  ): Promise<"added" | "known" | "full"> {
    return await this.database.db.transaction(async (tx) => {
      // One after the other, so that a race cannot exceed the limit.
      await tx.select().from(people).where(eq(people.id, row.person)).for("update");
      await also(tx);
      if ((await tx.$count(passkeys, eq(passkeys.person, row.person))) >= most) return "full";
      const added = await tx.insert(passkeys).values(row).onConflictDoNothing().returning();
      return added.length > 0 ? "added" : "known";
    });
  }

  /**
   * Notes that a passkey was used; false if it was removed. The count of the device never goes
   * back.
   */
  async markUsed(id: string, counter: number, now: Date): Promise<boolean> {
    const used = await this.database.db
      .update(passkeys)
      .set({ counter: sql`greatest(${passkeys.counter}, ${counter})`, usedAt: now })
      .where(eq(passkeys.id, id))
      .returning({ id: passkeys.id });
    return used.length > 0;
  }

  /** Removes a passkey of a person. Returns its name, or null if there is no such passkey. */
  async remove(person: string, id: string): Promise<string | null> {
    const [row] = await this.database.db
      .delete(passkeys)
      .where(and(eq(passkeys.person, person), eq(passkeys.id, id)))
      .returning({ name: passkeys.name });
    return row?.name ?? null;
  }
}
