package org.rdma4j.bindings;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SequenceLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.rdma4j.bindings.Generated.Member;

/** Everything that the generated bindings claim about C. */
final class Facts {
  /** The generated classes, by the C names of their types. */
  private final Map<String, Class<?>> types = new LinkedHashMap<>();

  private final List<Fact> facts = new ArrayList<>();

  private Facts() {
    Map<String, String> spellings =
        Filter.symbols().stream()
            .filter(Filter.Symbol::isType)
            .collect(Collectors.toMap(Filter.Symbol::name, Filter.Symbol::spelling));
    Generated.types().forEach(type -> types.put(spellings.get(type.getSimpleName()), type));
  }

  /**
   * Returns the size and alignment of all structs, unions and members, and the offsets of members.
   */
  static List<Fact> ofTypes() {
    Facts facts = new Facts();
    facts.types.forEach(
        (spelling, type) -> {
          GroupLayout layout = Generated.layout(type);
          facts.add("size of " + spelling, "sizeof(" + spelling + ")", layout.byteSize());
          facts.add(
              "alignment of " + spelling, "_Alignof(" + spelling + ")", layout.byteAlignment());
          facts.addMembers(spelling, type, "", 0);
        });
    return facts.facts;
  }

  /** Returns the size and value of every constant. */
  static List<Fact> ofConstants() {
    Facts facts = new Facts();
    Generated.constants().stream().sorted().forEach(facts::addConstant);
    return facts.facts;
  }

  private void addMembers(String spelling, Class<?> type, String prefix, long base) {
    for (Member member : Generated.members(Generated.layout(type))) {
      String path = prefix + member.name();
      long offset = base + member.offset();
      addMember(spelling, path, offset, member.layout());
      Generated.nestedType(type, member)
          .ifPresentOrElse(
              nested -> addMembers(spelling, nested, path + ".", offset),
              () -> addMemberType(spelling, path, member.layout()));
    }
  }

  private void addMember(String spelling, String path, long offset, MemoryLayout layout) {
    String name = spelling + "." + path;
    String member = member(spelling, path);
    add("offset of " + name, "offsetof(" + spelling + ", " + path + ")", offset);
    add("size of " + name, "sizeof(" + member + ")", layout.byteSize());
    add("alignment of " + name, "__alignof__(" + member + ")", layout.byteAlignment());
    if (layout instanceof SequenceLayout array) {
      addMember(spelling, path + "[0]", offset, array.elementLayout());
    }
  }

  /** Claims only the type of a member: the facts about that type are claimed once. */
  private void addMemberType(String spelling, String path, MemoryLayout layout) {
    if (layout instanceof SequenceLayout array) {
      addMemberType(spelling, path + "[0]", array.elementLayout());
    }
    if (!(layout instanceof GroupLayout)) {
      return;
    }
    String anyOfThatLayout =
        types.entrySet().stream()
            .filter(type -> sameLayout(Generated.layout(type.getValue()), layout))
            .map(type -> sameType(member(spelling, path), type.getKey()))
            .collect(Collectors.joining(" || "));
    add("type of " + spelling + "." + path, anyOfThatLayout.isEmpty() ? "0" : anyOfThatLayout, 1);
  }

  static boolean sameLayout(MemoryLayout one, MemoryLayout other) {
    return one.withoutName().equals(other.withoutName());
  }

  private static String sameType(String expression, String spelling) {
    return "__builtin_types_compatible_p(__typeof__(" + expression + "), " + spelling + ")";
  }

  private static String member(String spelling, String path) {
    return "((" + spelling + " *) 0)->" + path;
  }

  private void addConstant(String name) {
    Object value = Generated.constant(name);
    // Java has no unsigned types, so it compares the bits and the size.
    if (value instanceof Integer bits) {
      add("size of " + name, "sizeof(" + name + ")", Integer.BYTES);
      add("value of " + name, "(int32_t) (" + name + ")", bits);
    } else if (value instanceof Long bits) {
      add("size of " + name, "sizeof(" + name + ")", Long.BYTES);
      add("value of " + name, "(int64_t) (" + name + ")", bits);
    } else {
      add("value of " + name, "(intptr_t) (" + name + ")", ((MemorySegment) value).address());
    }
  }

  private void add(String name, String expression, long value) {
    facts.add(new Fact(name, expression, value));
  }
}
